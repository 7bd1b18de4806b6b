import { Temporal } from 'temporal-polyfill';
import { countHeldByGate, type Ledger, tenantsWithTasks } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { isRedisUnavailable, redisNow } from '../redis/index.ts';
import { type TenantDirectory, writeOfTenant } from '../tenants/index.ts';
import { oldestOpenQuestions, type QuestionRecord, takeReminders } from '../waits/index.ts';
import { publishQuestionEvent } from './tenant-events.ts';

export interface QuestionEventPorts {
  readonly ledger: Ledger;
  readonly tenants: Pick<TenantDirectory, 'list'>;
  readonly log: Log;
}

/** Questions that a digest names, the oldest ones. */
const MAX_NAMED = 20;
/** Longer than until the next digest. */
const KEEP_MARK_MS = 2 * 86_400_000;

/** Publishes reminders of open questions, and once a day what is open. */
export async function remindOfQuestions(ports: QuestionEventPorts): Promise<void> {
  const { ledger, tenants, log } = ports;
  const now = await redisNow(ledger.redis);
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    for (const { tenant, question } of await takeReminders(ledger, shard, now))
      await publishQuestionEvent(ledger, tenant, { event: 'question.reminded', ...subjectOf(question) });
  }
  const { digestAt, digestTz } = ledger.settings.questions;
  if (digestAt === null) return;
  const at = lastTimeOf(digestAt, digestTz, now);
  for (const tenant of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
    await digestOf(ports, tenant, at).catch((error: unknown) => {
      if (isRedisUnavailable(error)) throw error;
      log.error({ err: error, tenant }, 'a digest of open questions could not be published');
    });
  }
}

/** Publishes a digest of what was asked before `at` and is open, once. */
async function digestOf({ ledger }: QuestionEventPorts, tenant: string, at: number): Promise<void> {
  const open = await countHeldByGate(ledger, tenant, 'question');
  const key = ledger.keys.tenant(tenant).questionDigest;
  if (open === 0 || (await ledger.redis.get(key)) === String(at)) return;
  const questions = await oldestOpenQuestions(ledger, tenant, MAX_NAMED);
  if (!questions.some(({ askedAt }) => askedAt <= at)) return;
  const before = await writeOfTenant(ledger, { tenant, key, command: ['SET', at, 'GET'], keepMs: KEEP_MARK_MS });
  if (before === String(at)) return;
  await publishQuestionEvent(ledger, tenant, { event: 'question.digest', open, questions: questions.map(subjectOf) });
}

/** Without its words, which are read by those who may see them. */
function subjectOf({ id, taskId, agent, session, askedAt, expiresAt }: QuestionRecord): object {
  return { questionId: id, taskId, agent, session, askedAt, expiresAt };
}

/** When the clock of a zone last showed a time of the day, ms since the epoch. */
function lastTimeOf(time: string, tz: string, now: number): number {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(tz);
  const today = local.withPlainTime(Temporal.PlainTime.from(time));
  return (today.epochMilliseconds <= now ? today : local.subtract({ days: 1 }).withPlainTime(Temporal.PlainTime.from(time)))
    .epochMilliseconds;
}
