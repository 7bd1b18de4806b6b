import type { Ledger } from '../../ledger/index.ts';
import { findKeptQuestion } from './find-questions.ts';
import type { QuestionRecord } from './question.ts';

/** Questions of a shard that one look reminds of. */
const MAX_TAKEN = 200;

/** Notes when people are to be reminded of a question first. Does nothing where that is noted. */
export async function noteReminder({ redis, keys, settings }: Ledger, tenant: string, id: string, askedAt: number): Promise<void> {
  const next = nextAfter(settings.questions.remindMs, askedAt, askedAt);
  if (next !== null) await redis.zadd(keys.shard(keys.shardOf(tenant)).reminders, 'NX', next, `${tenant}/${id}`);
}

/** An open question that people are to be reminded of. */
export interface DueReminder {
  tenant: string;
  question: QuestionRecord;
}

/** Takes the questions of a shard that it is time to remind of, at `now` (ms since the epoch): each for one caller. */
export async function takeReminders(ledger: Ledger, shard: number, now: number): Promise<DueReminder[]> {
  const { redis, keys, settings } = ledger;
  const { reminders } = keys.shard(shard);
  const due: DueReminder[] = [];
  for (const member of await redis.zrangebyscore(reminders, '-inf', now, 'LIMIT', 0, MAX_TAKEN)) {
    const [tenant = '', id = ''] = member.split('/');
    const question = await findKeptQuestion(ledger, tenant, id);
    const isOpen = question?.status === 'open';
    const next = isOpen ? nextAfter(settings.questions.remindMs, question.askedAt, now) : null;
    // Only one of several callers moves it on.
    const moved = next === null ? await redis.zrem(reminders, member) : await redis.zadd(reminders, 'XX', 'GT', 'CH', next, member);
    if (isOpen && moved === 1) due.push({ tenant, question });
  }
  return due;
}

function nextAfter(remindMs: readonly number[], askedAt: number, now: number): number | null {
  const times = remindMs.map((ms) => askedAt + ms).filter((at) => at > now);
  return times.length === 0 ? null : Math.min(...times);
}
