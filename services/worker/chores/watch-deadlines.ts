import { changePriority } from '#shared/ledger/change-priority.ts';
import { expireDeadline } from '#shared/ledger/expire-deadline.ts';
import { readTask } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ticketOfState } from '#shared/queue/ticket-of-state.ts';
import { PRIORITY_NAMES } from '#shared/tasks/priority.ts';
import type { Task } from '#shared/tasks/task.ts';

const BATCH = 500;
/** What a task is taken to need when it does not say. */
const ESTIMATE_MS = 300_000;
/** A task whose deadline is nearer than this many times its estimate becomes critical. */
const TIGHT = 2;
const LONGEST_ESTIMATE_MS = 86_400_000;

/** Ends as stale what can no longer start in time, and moves to `critical` what hardly can. */
export async function watchDeadlines(parts: Parts): Promise<void> {
  const { ledger, log } = parts;
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    const horizon = Date.now() + TIGHT * LONGEST_ESTIMATE_MS;
    const members = await ledger.redis.zrangebyscore(ledger.keys.shard(shard).deadlines, '-inf', horizon, 'LIMIT', 0, BATCH);
    for (const member of members) {
      try {
        await watchOne(parts, member);
      } catch (error) {
        log.error({ err: error, member }, 'a deadline could not be watched');
      }
    }
  }
}

async function watchOne(parts: Parts, member: string): Promise<void> {
  const [tenant = '', id = ''] = member.split('/', 2);
  const task = await readTask(parts.ledger, tenant, id);
  const left = (task?.state.deadline ?? 0) - Date.now();
  if (task && left > 0) {
    if (isTight(task, left)) await escalate(parts, task);
    return;
  }
  const answer = await expireDeadline(parts.ledger, { tenant, id, lane: laneOf(task) });
  if (answer === 'stale') parts.log.warn({ event: 'task.stale', task: id, tenant }, 'its deadline passed before it started');
}

function laneOf(task: Task | null): string | null {
  return task?.state.lane ?? null;
}

function isTight({ body, state }: Task, leftMs: number): boolean {
  const estimate = body.requirements?.estimatedDurationMs ?? ESTIMATE_MS;
  return state.status !== 'running' && state.queue !== 'critical' && leftMs < TIGHT * estimate;
}

async function escalate({ ledger, relay, log }: Parts, { body, state }: Task): Promise<void> {
  const change = { priority: PRIORITY_NAMES.critical, queue: 'critical', class: `${state.class.slice(0, 1)}1` };
  const answer = await changePriority(ledger, body.tenant, body.id, change);
  if (answer.kind !== 'changed') return;
  log.warn({ event: 'task.escalated', task: body.id, tenant: body.tenant }, 'made critical: its deadline is near');
  if (answer.state.granted || answer.state.notBefore !== undefined) relay.add(ticketOfState(body.tenant, body.id, answer.state));
}
