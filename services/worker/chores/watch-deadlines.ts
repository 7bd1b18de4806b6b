import { expireDeadline, readState } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { reprioritizeTask } from '#shared/queue/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { estimatedMs, hasAttempt, isTerminal, type TaskState } from '#shared/tasks/index.ts';

const PAGE = 500;
/** Tasks checked per shard in one round, the nearest deadline first. */
const MAX_PER_ROUND = 5000;
/** A task whose deadline is nearer than this many times its estimate becomes critical. */
const TIGHT = 2;
const MAX_ESTIMATE_MS = 86_400_000;

/** Ends tasks as stale whose deadline passed, and makes those critical whose deadline is near. */
export async function watchDeadlines(parts: Parts): Promise<void> {
  for (let shard = 0; shard < parts.ledger.keys.shards; shard += 1) await checkShard(parts, parts.ledger.keys.shard(shard).deadlines);
}

async function checkShard(parts: Parts, key: string): Promise<void> {
  // Deadlines are kept by Redis's clock.
  const now = await redisNow(parts.redis);
  const horizon = now + TIGHT * MAX_ESTIMATE_MS;
  let stayed = 0;
  for (let seen = 0; seen < MAX_PER_ROUND; seen += PAGE) {
    const members = await parts.redis.zrangebyscore(key, '-inf', horizon, 'LIMIT', stayed, PAGE);
    const isGone = await Promise.all(members.map((member) => checkSafely(parts, member, now)));
    stayed += isGone.filter((gone) => !gone).length;
    if (members.length < PAGE) return;
  }
}

/** One bad entry must not keep the others from being checked. */
async function checkSafely(parts: Parts, member: string, now: number): Promise<boolean> {
  try {
    return await checkDeadline(parts, member, now);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    parts.log.error({ err: error, member }, 'a deadline could not be checked');
    return false;
  }
}

/** Returns whether the deadline is done with. */
async function checkDeadline(parts: Parts, member: string, now: number): Promise<boolean> {
  const [tenant = '', id = ''] = member.split('/', 2);
  const state = await readState(parts.ledger, tenant, id);
  if (state && !isTerminal(state.status) && leftOf(state, now) > 0) {
    if (isTight(state, leftOf(state, now))) await escalate(parts, tenant, id);
    return false;
  }
  const answer = await expireDeadline(parts.ledger, { tenant, id, lane: state?.lane ?? null });
  if (answer === 'stale') reportStale(parts, tenant, id, state);
  return true;
}

function reportStale({ ledger, log }: Parts, tenant: string, task: string, state: TaskState | null): void {
  if (state) ledger.counts.taskEnded(tenant, state, 'stale');
  log.warn({ event: 'task.stale', task, tenant }, 'its deadline passed before it started');
}

function leftOf({ deadline = 0 }: TaskState, now: number): number {
  return deadline - now;
}

function isTight({ status, queue, estimateMs = estimatedMs(null) }: TaskState, leftMs: number): boolean {
  return !hasAttempt(status) && queue !== 'critical' && leftMs < TIGHT * estimateMs;
}

async function escalate(parts: Parts, tenant: string, id: string): Promise<void> {
  const answer = await reprioritizeTask(parts, tenant, id, { priority: 'critical', why: 'its deadline is near' });
  if (answer.kind !== 'changed') return;
  parts.log.warn({ event: 'task.escalated', task: id, tenant }, 'made critical: its deadline is near');
}
