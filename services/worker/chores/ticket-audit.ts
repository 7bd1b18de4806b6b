import { type Lookup, lookupsFor, promoteDue, readLookupAfter, readStates, reissueTicket, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ticketId, ticketOfState, waitingSince } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import type { TaskState, TaskStatus } from '#shared/tasks/index.ts';

/** Where a task may wait for its ticket to come up. */
const WAITING = ['queued', 'failed', 'timeout', 'pending'] as const satisfies TaskStatus[];
const PAGE = 500;
/** Tasks checked per tenant and lookup in one round; the next round continues behind them. */
const MAX_PER_ROUND = 5000;
/** BullMQ's states in which a ticket will still reach a worker. */
const ALIVE = new Set(['waiting', 'prioritized', 'delayed', 'active', 'waiting-children']);

/**
 * TicketAudit is responsible for the tickets of tasks that have waited for long: it replaces one that is gone, so that no accepted task is
 * lost when somebody empties a queue or removes a ticket.
 */
export class TicketAudit {
  readonly #parts: Parts;
  /** By range: the last task that was checked, when there are more. */
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

  async #auditRange(tenant: string, lookup: Lookup): Promise<void> {
    const range = `${lookup.key} ${lookup.prefix}`;
    for (let seen = 0; seen < MAX_PER_ROUND; seen += PAGE) {
      const ids = await readLookupAfter(this.#parts, lookup, this.#after.get(range) ?? '', PAGE);
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
  const states = await readStates(parts.ledger, tenant, ids);
  const now = await redisNow(parts.redis);
  const { ticketAuditMs } = parts.ledger.settings.worker;
  const overdue = ids.flatMap((id, position) => {
    const state = states[position];
    return state && isOverdue(state, now, ticketAuditMs) ? [{ tenant, id, state }] : [];
  });
  await Promise.all(overdue.map((task) => auditTask(parts, task)));
}

/** Whether the task should long have been claimed or promoted. Parked tasks have no ticket. */
function isOverdue(state: TaskState, now: number, auditMs: number): boolean {
  if (state.status === 'running') return false;
  if (state.notBefore !== undefined) return now - state.notBefore > auditMs;
  return state.granted === true && now - waitingSince(state) > auditMs;
}

interface OverdueTask {
  tenant: string;
  id: string;
  state: TaskState;
}

async function auditTask({ ledger, relay, queues, log }: Parts, { tenant, id, state }: OverdueTask): Promise<void> {
  if (state.notBefore !== undefined) {
    await promoteDue(ledger, tenant, [id]);
    return;
  }
  const queue = queues.get(ledger.keys.shardOf(tenant), state.queue);
  if (ALIVE.has(await queue.getJobState(ticketId(id, state.ticket)))) return;
  const renewed = await reissueTicket(ledger, tenant, { task: id, number: state.ticket });
  if (!renewed) return;
  log.warn({ event: 'ticket.missing', task: id, tenant, queue: state.queue }, 'a ticket was gone; the task has a new one');
  relay.add(ticketOfState(tenant, id, renewed));
}
