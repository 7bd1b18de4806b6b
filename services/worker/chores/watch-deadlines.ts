import type { Source } from '#shared/config/index.ts';
import { changePriority, expireDeadline, readState } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ticketOfState } from '#shared/queue/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { capClass, estimatedMs, isTerminal, PRIORITY_NAMES, type TaskState } from '#shared/tasks/index.ts';

const PAGE = 500;
/** Tasks looked at per shard in one round, the nearest deadline first. */
const ROUND_MOST = 5000;
/** A task whose deadline is nearer than this many times its estimate becomes critical. */
const TIGHT = 2;
const LONGEST_ESTIMATE_MS = 86_400_000;

/** Ends as stale what can no longer start in time, and moves to `critical` what hardly can. */
export async function watchDeadlines(parts: Parts): Promise<void> {
  for (let shard = 0; shard < parts.ledger.keys.shards; shard += 1) await watchShard(parts, parts.ledger.keys.shard(shard).deadlines);
}

async function watchShard(parts: Parts, key: string): Promise<void> {
  // Deadlines are kept by Redis's clock.
  const now = await redisNow(parts.redis);
  const horizon = now + TIGHT * LONGEST_ESTIMATE_MS;
  let stayed = 0;
  for (let seen = 0; seen < ROUND_MOST; seen += PAGE) {
    const members = await parts.redis.zrangebyscore(key, '-inf', horizon, 'LIMIT', stayed, PAGE);
    const isGone = await Promise.all(members.map((member) => watchSafely(parts, member, now)));
    stayed += isGone.filter((gone) => !gone).length;
    if (members.length < PAGE) return;
  }
}

/** One that cannot be watched keeps nobody from watching the others. */
async function watchSafely(parts: Parts, member: string, now: number): Promise<boolean> {
  try {
    return await watchOne(parts, member, now);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    parts.log.error({ err: error, member }, 'a deadline could not be watched');
    return false;
  }
}

/** Returns whether it needs to be watched no more. */
async function watchOne(parts: Parts, member: string, now: number): Promise<boolean> {
  const [tenant = '', id = ''] = member.split('/', 2);
  const state = await readState(parts.ledger, tenant, id);
  if (state && !isTerminal(state.status) && leftOf(state, now) > 0) {
    if (isTight(state, leftOf(state, now))) await escalate(parts, tenant, id, state.source);
    return false;
  }
  const answer = await expireDeadline(parts.ledger, { tenant, id, lane: state?.lane ?? null });
  if (answer === 'stale') parts.log.warn({ event: 'task.stale', task: id, tenant }, 'its deadline passed before it started');
  return true;
}

function leftOf({ deadline = 0 }: TaskState, now: number): number {
  return deadline - now;
}

function isTight({ status, queue, estimateMs = estimatedMs(null) }: TaskState, leftMs: number): boolean {
  return status !== 'running' && queue !== 'critical' && leftMs < TIGHT * estimateMs;
}

async function escalate({ ledger, relay, log }: Parts, tenant: string, id: string, source: Source): Promise<void> {
  const change = { priority: PRIORITY_NAMES.critical, queue: 'critical', class: capClass(source, PRIORITY_NAMES.critical) };
  const answer = await changePriority(ledger, tenant, id, change);
  if (answer.kind !== 'changed') return;
  log.warn({ event: 'task.escalated', task: id, tenant }, 'made critical: its deadline is near');
  if (answer.state.granted) relay.add(ticketOfState(tenant, id, answer.state));
}
