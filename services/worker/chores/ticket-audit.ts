import { reissueTicket } from '#shared/ledger/reissue-ticket.ts';
import { readTasks } from '#shared/ledger/read-tasks.ts';
import { tenantsWithTasks } from '#shared/ledger/tenants-with-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ticketOfState } from '#shared/queue/ticket-of-state.ts';
import { ticketId } from '#shared/queue/ticket.ts';
import { waitingSince } from '#shared/queue/wait-reason.ts';
import { lookupsFor, type Lookup } from '#shared/ledger/task-lookups.ts';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import type { Task } from '#shared/tasks/task.ts';

/** Where a task may wait for its ticket to come up. */
const WAITING = ['queued', 'failed', 'timeout', 'pending'] as const satisfies TaskStatus[];
const PAGE = 500;
/** Tasks looked at per tenant and lookup in one round; the next one goes on behind them. */
const ROUND_MOST = 5000;
/** BullMQ's states in which a ticket will still reach a worker. */
const ALIVE = new Set(['waiting', 'prioritized', 'delayed', 'active', 'waiting-children']);

/**
 * TicketAudit is responsible for looking up the tickets of tasks that have waited for long, and for making a new one where it is gone,
 * so that an accepted task is not lost when somebody empties a queue or removes a ticket behind our back.
 */
export class TicketAudit {
  readonly #parts: Parts;
  /** By range: the last that was looked at, when there are more. */
  readonly #after = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { tenants, ledger } = this.#parts;
    for (const tenant of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
      // Several of these states share lookups.
      const lookups = new Map(WAITING.flatMap((status) => lookupsFor(ledger, tenant, { status })).map((each) => [each.prefix, each]));
      for (const lookup of lookups.values()) await this.#auditRange(tenant, lookup);
    }
  }

  async #auditRange(tenant: string, { key, prefix }: Lookup): Promise<void> {
    const range = `${key} ${prefix}`;
    for (let seen = 0; seen < ROUND_MOST; seen += PAGE) {
      const from = `(${prefix}${this.#after.get(range) ?? ''}`;
      const members = await this.#parts.redis.zrangebylex(key, from, `(${prefix}\u00ff`, 'LIMIT', 0, PAGE);
      const ids = members.map((member) => member.slice(prefix.length));
      await auditTasks(this.#parts, tenant, ids);
      const last = ids.at(-1);
      if (ids.length < PAGE || last === undefined) {
        this.#after.delete(range);
        return;
      }
      this.#after.set(range, last);
    }
  }
}

async function auditTasks(parts: Parts, tenant: string, ids: string[]): Promise<void> {
  const tasks = await readTasks(parts.ledger, tenant, ids);
  const due = tasks.filter((task) => task !== null && isDue(task, parts.ledger.settings.worker.ticketAuditMs));
  await Promise.all(due.map(async (task) => task && (await auditTask(parts, task))));
}

/** Whether the task should have had a ticket for a while. Parked tasks have none. */
function isDue({ state }: Task, auditMs: number): boolean {
  const hasTicket = state.status !== 'running' && (state.granted === true || state.notBefore !== undefined);
  return hasTicket && Date.now() - waitingSince(state) > auditMs;
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
