import { Job, type JobState } from 'bullmq';
import { type Ledger, listReady, listTenantReady, readState, readTurn, type ReadyTicket } from '../../ledger/index.ts';
import { hasAttempt, type TaskState } from '../../tasks/index.ts';
import type { TicketData, TicketQueue } from '../queues.ts';
import { RunningJob } from './active-jobs.ts';
import { bullJobId, parseLedgerJobId, parseTicketId, ledgerJobId, ticketId, ticketJob, ticketOfState } from './ticket.ts';

/** ReadyJob is responsible for showing a ticket that waits for a slot in the ledger as if BullMQ had it. */
class ReadyJob extends Job<TicketData> {
  readonly #tickets: TicketQueue;

  constructor(tickets: TicketQueue, ticket: ReadyTicket) {
    const { name, data, opts } = ticketJob({ ...ticket, entry: '' });
    super(tickets, name, data, opts, ledgerJobId(ticketId(ticket.task, ticket.number), ticket.tenant));
    this.#tickets = tickets;
  }

  override getState(): Promise<JobState> {
    return Promise.resolve('prioritized');
  }

  /** The ledger has withdrawn it with its task; only a ticket that went out meanwhile is left. */
  override async remove(): Promise<void> {
    await this.#tickets.remove(bullJobId(this.id ?? ''));
  }
}

type ReadyPorts = Pick<Ledger, 'redis' | 'keys' | 'run'>;

/** The jobs at these places of what waits for a slot in a queue, in the order of their turns. */
export async function readyJobs(ports: ReadyPorts, shard: number, queue: TicketQueue, range: [number, number]): Promise<Job<TicketData>[]> {
  return await jobsOf(ports, shard, queue, await listReady(ports, shard, queue.name, range));
}

/** Those of one tenant, the best first. */
export async function readyJobsOf(ports: ReadyPorts, tenant: string, queue: TicketQueue, max: number): Promise<Job<TicketData>[]> {
  return await jobsOf(ports, ports.keys.shardOf(tenant), queue, await listTenantReady(ports, tenant, queue.name, max));
}

/** The jobs of tickets: those of BullMQ, where it has them. */
async function jobsOf(
  { redis, keys }: ReadyPorts,
  shard: number,
  queue: TicketQueue,
  tickets: readonly ReadyTicket[],
): Promise<Job<TicketData>[]> {
  if (tickets.length === 0) return [];
  const known = await redis.zmscore(keys.shard(shard).jobs, ...tickets.map(({ tenant, task }) => `${tenant}/${task}`));
  return await Promise.all(
    tickets.map(async (ticket, at) => {
      const job = known[at] === null ? undefined : await queue.getJob(ticketId(ticket.task, ticket.number));
      return job ?? new ReadyJob(queue, ticket);
    }),
  );
}

/**
 * The job of this id: the ticket that is out by now, one that is still ready, or the task that a slot took, also once it has ended.
 * Undefined for none, and for another id.
 */
export async function findLedgerJob(ledger: Ledger, queue: TicketQueue, id: string): Promise<Job<TicketData> | undefined> {
  const { ticket, tenant } = parseLedgerJobId(id);
  if (tenant === undefined) return undefined;
  const out = await queue.getJob(ticket);
  if (out) return out;
  const { task, number } = parseTicketId(ticket);
  const state = await readState(ledger, tenant, task);
  if (state?.ticket !== number || state.queue !== queue.name) return undefined;
  if (hasAttempt(state.status) || hasEnded(state)) return new RunningJob(queue, { tenant, task, state });
  if ((await readTurn(ledger, tenant, task, state)) === null) return undefined;
  return new ReadyJob(queue, { ...ticketOfState(tenant, task, state), acceptedAt: state.createdAt });
}

/** Whether it ran and ended, other than by a failure, whose ticket BullMQ has. */
function hasEnded({ status, startedAt, completedAt }: TaskState): boolean {
  return startedAt !== undefined && completedAt !== undefined && status !== 'permanently_failed';
}
