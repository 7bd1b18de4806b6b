import { reissueTicket } from '#shared/ledger/reissue-ticket.ts';
import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ticketOfState } from '#shared/queue/ticket-of-state.ts';
import { ticketId } from '#shared/queue/ticket.ts';
import { lookupsFor, type Lookup } from '#shared/ledger/task-lookups.ts';
import { parseTimeline } from '#shared/tasks/parse-timeline.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import type { Task } from '#shared/tasks/task.ts';

/** Where a task may wait for its ticket to come up. */
const WAITING = ['queued', 'failed', 'timeout', 'pending'] as const satisfies TaskStatus[];
/** Tasks looked at per tenant and status in one round, oldest first. */
const BATCH = 500;
/** BullMQ's states in which a ticket will still reach a worker. */
const ALIVE = new Set(['waiting', 'prioritized', 'delayed', 'active', 'waiting-children']);

/**
 * Looks up the tickets of tasks that have waited for long, and makes a new one where it is gone: somebody emptied a queue,
 * or removed a ticket behind our back. An accepted task is not lost with its ticket.
 */
export async function auditTickets(parts: Parts): Promise<void> {
  for (const { id } of parts.tenants.list()) {
    for (const status of WAITING) await auditTenant(parts, id, status);
  }
}

async function auditTenant(parts: Parts, tenant: string, status: TaskStatus): Promise<void> {
  const { ledger } = parts;
  for (const lookup of lookupsFor(ledger, tenant, { status })) await auditRange(parts, tenant, lookup);
}

async function auditRange(parts: Parts, tenant: string, { key, prefix }: Lookup): Promise<void> {
  const { ledger } = parts;
  const members = await ledger.redis.zrangebylex(key, `[${prefix}`, `(${prefix}\u00ff`, 'LIMIT', 0, BATCH);
  const tasks = await readTasks(
    ledger,
    tenant,
    members.map((member) => member.slice(prefix.length)),
  );
  const due = tasks.filter((task) => task !== null && isDue(task, ledger.settings.worker.ticketAuditMs));
  await Promise.all(due.map(async (task) => task && (await auditTask(parts, task))));
}

/** Whether the task should have had a ticket for a while. Parked tasks have none. */
function isDue({ state }: Task, auditMs: number): boolean {
  const since = parseTimeline(state.log).at(-1)?.at ?? state.createdAt;
  return state.status !== 'running' && (state.granted === true || state.notBefore !== undefined) && Date.now() - since > auditMs;
}

async function auditTask({ ledger, relay, queues, log }: Parts, { body, state }: Task): Promise<void> {
  const queue = queues.get(ledger.keys.shardOf(body.tenant), state.queue);
  if (ALIVE.has(await queue.getJobState(ticketId(body.id, state.ticket)))) return;
  const renewed = await reissueTicket(ledger, body.tenant, { task: body.id, number: state.ticket });
  if (!renewed) return;
  log.warn(
    { event: 'ticket.missing', task: body.id, tenant: body.tenant, queue: state.queue },
    'a ticket was gone; the task has a new one',
  );
  relay.add(ticketOfState(body.tenant, body.id, renewed));
}
