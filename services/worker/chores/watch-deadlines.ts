import { changePriority } from '#shared/ledger/change-priority.ts';
import { expireDeadline } from '#shared/ledger/expire-deadline.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ticketOfState } from '#shared/queue/ticket-of-state.ts';
import { isRedisUnavailable } from '#shared/redis/is-redis-unavailable.ts';
import { estimatedMs } from '#shared/tasks/estimated-ms.ts';
import { PRIORITY_NAMES } from '#shared/tasks/priority.ts';
import type { Task } from '#shared/tasks/task.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { capClass } from '#shared/tasks/source-class.ts';

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
  const horizon = Date.now() + TIGHT * LONGEST_ESTIMATE_MS;
  let stayed = 0;
  for (let seen = 0; seen < ROUND_MOST; seen += PAGE) {
    const members = await parts.redis.zrangebyscore(key, '-inf', horizon, 'LIMIT', stayed, PAGE);
    const isGone = await Promise.all(members.map((member) => watchSafely(parts, member)));
    stayed += isGone.filter((gone) => !gone).length;
    if (members.length < PAGE) return;
  }
}

/** One that cannot be watched keeps nobody from watching the others. */
async function watchSafely(parts: Parts, member: string): Promise<boolean> {
  try {
    return await watchOne(parts, member);
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    parts.log.error({ err: error, member }, 'a deadline could not be watched');
    return false;
  }
}

/** Returns whether it needs to be watched no more. */
async function watchOne(parts: Parts, member: string): Promise<boolean> {
  const [tenant = '', id = ''] = member.split('/', 2);
  const task = await readTask(parts.ledger, tenant, id);
  const left = (task?.state.deadline ?? 0) - Date.now();
  if (task && !isTerminal(task.state.status) && left > 0) {
    if (isTight(task, left)) await escalate(parts, task);
    return false;
  }
  const answer = await expireDeadline(parts.ledger, { tenant, id, lane: laneOf(task) });
  if (answer === 'stale') parts.log.warn({ event: 'task.stale', task: id, tenant }, 'its deadline passed before it started');
  return true;
}

function laneOf(task: Task | null): string | null {
  return task?.state.lane ?? null;
}

function isTight({ body, state }: Task, leftMs: number): boolean {
  return state.status !== 'running' && state.queue !== 'critical' && leftMs < TIGHT * estimatedMs(body.requirements);
}

async function escalate({ ledger, relay, log }: Parts, { body, state }: Task): Promise<void> {
  const change = { priority: PRIORITY_NAMES.critical, queue: 'critical', class: capClass(state.source, PRIORITY_NAMES.critical) };
  const answer = await changePriority(ledger, body.tenant, body.id, change);
  if (answer.kind !== 'changed') return;
  log.warn({ event: 'task.escalated', task: body.id, tenant: body.tenant }, 'made critical: its deadline is near');
  if (answer.state.granted || answer.state.notBefore !== undefined) relay.add(ticketOfState(body.tenant, body.id, answer.state));
}
