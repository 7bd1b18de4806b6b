import { TASK_QUEUES } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import {
  type Lookup,
  lookupsFor,
  promoteDue,
  readLookupAfter,
  readTurn,
  readStates,
  readStatesOrErrors,
  reissueTicket,
  repairJobs,
  tenantsWithTasks,
} from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ticketId, ticketOfState, type TicketQueue, waitingSince } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { hasAttempt, isTerminal, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';

/** Statuses in which a task may wait for its ticket's turn. */
const WAITING_STATUSES = ['queued', 'failed', 'timeout', 'pending'] as const satisfies TaskStatus[];
const AUDIT_PAGE = 500;
/** Tasks checked per tenant and lookup in one round; the next round continues behind them. */
const MAX_AUDITED = 5000;

/**
 * TicketAudit is responsible for the tickets of tasks that have waited for long: it replaces a missing one, so that no accepted task is
 * lost when a process dies with a ticket that it took.
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
    for (let shard = 0; shard < ledger.keys.shards; shard += 1) await repairJobs(ledger, shard);
    for (const tenant of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
      // Several of these states share lookups.
      const lookups = new Map(
        WAITING_STATUSES.flatMap((status) => lookupsFor(ledger, tenant, { status })).map((each) => [each.prefix, each]),
      );
      for (const lookup of lookups.values()) await this.#auditRange(tenant, lookup);
    }
  }

  async #auditRange(tenant: string, lookup: Lookup): Promise<void> {
    const range = `${lookup.key} ${lookup.prefix}`;
    for (let seen = 0; seen < MAX_AUDITED; seen += AUDIT_PAGE) {
      const ids = await readLookupAfter(this.#parts, lookup, this.#after.get(range) ?? '', AUDIT_PAGE);
      await auditTasks(this.#parts, tenant, ids);
      const last = ids.at(-1);
      if (ids.length < AUDIT_PAGE || last === undefined) {
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
  if (hasAttempt(state.status)) return false;
  if (state.notBefore !== undefined) return now - state.notBefore > auditMs;
  return state.granted === true && now - waitingSince(state) > auditMs;
}

interface OverdueTask {
  tenant: string;
  id: string;
  state: TaskState;
}

async function auditTask({ ledger, relay, log }: Parts, { tenant, id, state }: OverdueTask): Promise<void> {
  if (state.notBefore !== undefined) {
    await promoteDue(ledger, tenant, [id]);
    return;
  }
  // Its turn has not come.
  if ((await readTurn(ledger, tenant, id, state)) !== null) return;
  const renewed = await reissueTicket(ledger, tenant, { task: id, number: state.ticket });
  if (!renewed) return;
  log.warn({ event: 'ticket.missing', task: id, tenant, queue: state.queue }, 'a ticket was missing; its task has a new one');
  relay.add(ticketOfState(tenant, id, renewed));
}

/** BullMQ's states in which a ticket waits for a worker, or shows a failed task. */
const CHECKED_JOB_STATES = ['delayed', 'prioritized', 'waiting', 'failed'] as const;
/** Tickets read per queue and state in one round; the next round continues there. */
const REMOVAL_BATCH = 500;
/** Until the next round where there are none. */
const QUIET_TIMES = 2;

type Job = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;

/** Where the next round continues, by shard, queue and state: the number of tickets before. */
export type RemovalOffsets = Map<string, number>;

/**
 * Removes tickets that wait although their tasks have ended, or are gone with their tenant. Until its turn comes, which a paused queue
 * delays, such a ticket would count as work. It also removes failed tickets whose tasks continued with another one. Returns when to do so again,
 * where there were no tickets at all.
 */
export async function removeTickets(parts: Parts, offsets: RemovalOffsets): Promise<number | undefined> {
  let seen = 0;
  for (const { shard, name, queue } of parts.queues.all()) {
    if (!TASK_QUEUES.some((each) => each === name)) continue;
    const counts = await queue.getJobCounts(...CHECKED_JOB_STATES);
    for (const state of CHECKED_JOB_STATES) {
      if (counts[state] === 0) continue;
      seen += 1;
      const place = `${shard}/${name}/${state}`;
      const from = offsets.get(place) ?? 0;
      const jobs = (await queue.getJobs([state], from, from + REMOVAL_BATCH - 1, true)).filter((job) => Boolean(job));
      const removed = await removeNeedless(parts, jobs, state === 'failed' ? isReplaced : isOver);
      offsets.set(place, jobs.length < REMOVAL_BATCH ? 0 : from + REMOVAL_BATCH - removed);
      if (removed > 0) parts.log.debug({ queue: name, state, tickets: removed }, 'removed tickets of ended tasks');
    }
  }
  return seen === 0 ? QUIET_TIMES * parts.ledger.settings.worker.ticketAuditMs : undefined;
}

type IsNeedless = (job: Job, state: TaskState | null) => boolean;

const isOver: IsNeedless = (_job, state) => state === null || isTerminal(state.status);

/** A ticket that failed with its task stays as long as the task may be retried. */
const isReplaced: IsNeedless = ({ id, data }, state) => state !== null && ticketId(data.task, state.ticket) !== id;

async function removeNeedless({ ledger }: Parts, jobs: readonly Job[], isNeedless: IsNeedless): Promise<number> {
  let removed = 0;
  for (const [tenant, own] of Map.groupBy(jobs, ({ data }) => data.tenant)) {
    const states = await readStatesOrErrors(
      ledger,
      tenant,
      own.map(({ data }) => data.task),
    );
    const needless = own.filter((job, position) => {
      const state = states[position] ?? null;
      // An unreadable state is not gone: another release may read it.
      return !(state instanceof MusterError) && isNeedless(job, state);
    });
    // A worker may have taken one meanwhile; it finds nothing to do.
    const answers = await Promise.allSettled(needless.map((job) => job.remove()));
    removed += answers.filter(({ status }) => status === 'fulfilled').length;
  }
  return removed;
}
