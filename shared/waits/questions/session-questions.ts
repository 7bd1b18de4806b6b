import type { Ledger } from '../../ledger/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import { readQuestions } from './find-questions.ts';
import type { QuestionRecord } from './question.ts';

/** Read together. Mostly the first one is open. */
const BATCH = 10;

/** Puts a question at the end of its session's line: a session is asked one at a time. Kept for as long as a question may be open. */
export async function lineUpQuestion(ledger: Ledger, tenant: string, session: string, id: string): Promise<void> {
  const key = ledger.keys.tenant(tenant).sessionQuestions(session);
  await writeOfTenant(ledger, { tenant, key, command: ['RPUSH', id], keepMs: ledger.settings.questions.maxWaitMs });
  // Where nobody reads the line, it would only ever grow.
  await questionOfSession(ledger, tenant, session);
}

/** The question that a session is asked now: the first of its line that is open. Forgets those before it. */
export async function questionOfSession(ledger: Ledger, tenant: string, session: string): Promise<QuestionRecord | null> {
  const { redis, keys, settings } = ledger;
  const key = keys.tenant(tenant).sessionQuestions(session);
  for (let seen = 0; seen < settings.limits.suspended; seen += BATCH) {
    const ids = await redis.lrange(key, 0, BATCH - 1);
    if (ids.length === 0) return null;
    const open = (await readQuestions(ledger, tenant, ids)).find(({ status }) => status === 'open');
    const closed = open === undefined ? ids : ids.slice(0, ids.indexOf(open.id));
    // One each: a question that was asked again meanwhile stands in the line once more.
    await Promise.all(closed.map((id) => redis.lrem(key, 1, id)));
    if (open !== undefined) return open;
  }
  return null;
}
