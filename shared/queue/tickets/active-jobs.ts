import { Job, type JobState } from 'bullmq';
import type { RunningTask } from '../../ledger/index.ts';
import type { TicketData, TicketQueue } from '../queues.ts';
import { parseTicketId, ledgerJobId, ticketId, ticketJob, ticketOfState } from './ticket.ts';

/** RunningJob is responsible for showing a task that a free slot took from the ledger as if BullMQ had its ticket, also once it has ended. */
export class RunningJob extends Job<TicketData> {
  constructor(tickets: TicketQueue, { tenant, task, state }: RunningTask) {
    const { name, data, opts } = ticketJob({ ...ticketOfState(tenant, task, state), acceptedAt: state.createdAt });
    super(tickets, name, data, opts, ledgerJobId(ticketId(task, state.ticket), tenant));
    // BullMQ counts an attempt once it has ended.
    this.attemptsMade = state.completedAt === undefined ? Math.max(0, state.attempt - 1) : state.attempt;
    this.attemptsStarted = state.attempt;
    if (state.completedAt !== undefined) this.finishedOn = state.completedAt;
    if (state.startedAt !== undefined) this.processedOn = state.startedAt;
    if (state.worker !== undefined) this.processedBy = state.worker;
  }

  override getState(): Promise<JobState> {
    return Promise.resolve(this.finishedOn === undefined ? 'active' : 'completed');
  }

  /** Nothing of it is in BullMQ, and the task stays. */
  override remove(): Promise<void> {
    return Promise.resolve();
  }
}

/** A task that a worker holds: by a ticket of BullMQ, under a lease, or both. */
type Held = { running: RunningTask; ticket?: string | undefined } | { running?: undefined; ticket: string };

type ActiveQueue = Pick<TicketQueue, 'getRanges' | 'name'>;

/** How many tasks of a queue workers hold; `running` is what runs in its shard. */
export async function countActive(queue: ActiveQueue, running: Promise<readonly RunningTask[]>): Promise<number> {
  return (await readHeld(queue, running)).length;
}

/** The jobs of the tasks of a queue that workers hold at the places `from` to `to` (not included), in the order of their start. */
export async function activeJobs(
  queue: TicketQueue,
  running: Promise<readonly RunningTask[]>,
  [from, to]: [number, number],
): Promise<Job<TicketData>[]> {
  const page = (await readHeld(queue, running)).slice(from, to);
  const jobs = await Promise.all(
    page.map(async (held) => {
      const job = held.ticket === undefined ? undefined : await queue.getJob(held.ticket);
      return job ?? (held.running && new RunningJob(queue, held.running));
    }),
  );
  return jobs.filter((job) => job !== undefined);
}

/** Each task once, whatever tickets it has. Tickets that are about to be claimed are last. */
async function readHeld(queue: ActiveQueue, running: Promise<readonly RunningTask[]>): Promise<Held[]> {
  const [ids, inShard] = await Promise.all([queue.getRanges(['active'], 0, -1, true), running]);
  const tickets = new Map(ids.map((id) => [parseTicketId(id).task, id]));
  const own = inShard.filter(({ state }) => state.queue === queue.name);
  const started = new Set(own.map(({ task }) => task));
  const unclaimed = [...tickets].filter(([task]) => !started.has(task));
  return [...own.map((task) => ({ running: task, ticket: tickets.get(task.task) })), ...unclaimed.map(([, ticket]) => ({ ticket }))];
}
