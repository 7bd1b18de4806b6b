import { type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import { within } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { QueueConsumer } from '../consumer/queue-consumer.ts';
import type { TicketClaim } from '../../ledger/index.ts';
import { ticketOf } from '../permits/next-ticket.ts';
import type { TicketPermits } from '../permits/ticket-permits.ts';
import { OvertakenError, type ReadySource } from '../permits/ready-source.ts';
import type { WorkerQueue } from '../queue-names.ts';
import type { TicketData } from '../queues.ts';
import type { ReadyTickets, TakenTicket } from '../tickets/ready-tickets.ts';
import { bullPriority, ticketJob } from '../tickets/ticket.ts';

/**
 * What the queue does with a ticket; the ledger moved the task itself before.
 *
 * - `done`: nothing more to do with it; the note shows on the board. `ended`: the lease of an attempt whose settlement is under way. `isLeft`: the
 *   attempt goes on at a hub that does not count it yet
 * - `failed`: the task failed for good; the board lists the ticket as failed
 * - `returned`: back to its place in the queue, for any worker. Costs no attempt
 * - `overtaken`: the same, and its slot takes a better ticket that is ready
 */
export type TicketResult =
  | { kind: 'done'; note: string; ended?: string; isLeft?: true | undefined }
  | { kind: 'failed'; message: string }
  | { kind: 'returned' | 'overtaken' };

/** Whether the attempt goes on elsewhere, where it does not count yet. */
export function isLeft(result: TicketResult | null): boolean {
  return result?.kind === 'done' && result.isLeft === true;
}

export interface TicketWorkerOptions {
  source: JobSource;
  shard: number;
  queue: WorkerQueue;
  /** Tickets it runs at once. */
  slots: number;
  /** Where it gets its permits; without them only its slots limit it. */
  permits?: TicketPermits;
  /** What its free slots take without BullMQ; without it every ticket goes through BullMQ. */
  ready?: ReadyTickets | undefined;
  /** `how`: what its claim has to know; `queue`: that of the ticket, when it is another one. */
  handle: (data: TicketData, how: TicketClaim, queue?: TaskQueue) => Promise<TicketResult>;
  /** The ticket is back in BullMQ for its next try, so that its outbox entry may go. Never rejects. */
  onReturned: (ticketId: string, data: TicketData) => Promise<void>;
}

/**
 * How often BullMQ checks for tickets of dead workers, per lease. A lock lasts as long as a lease. Only this brings back a ticket whose
 * worker died before it claimed the task in the ledger.
 */
const STALLED_CHECKS_PER_LEASE = 2;
/** The ledger counts crashes. BullMQ's own count would fail the ticket whatever the task allows. */
const MAX_STALLED = 1_000_000;
/** How long a stop waits until the last returned tickets are reported; the sweep reports the others. */
const RETURNING_MS = 1000;

/**
 * TicketWorker is responsible for claiming tickets of one queue from BullMQ and for settling them there, so that nothing else needs to
 * know BullMQ's rules for retries, delays and locks.
 */
export class TicketWorker {
  readonly #options: TicketWorkerOptions;
  readonly #consumer: QueueConsumer;
  /** Leases of attempts that ended under tickets from BullMQ. */
  readonly #ended = new WeakMap<object, string>();
  /** Reports of returned tickets that are under way. */
  readonly #returning = new Set<Promise<void>>();

  constructor(options: TicketWorkerOptions) {
    const { source, queue, shard, slots, permits, ready } = options;
    const { leaseMs, keepCompletedTickets, keepFailedTickets } = source.settings.worker;
    const limiter = queue === 'maintenance' ? undefined : source.settings.queues[queue]?.limiter;
    this.#options = options;
    this.#consumer = new QueueConsumer({
      source,
      queue,
      shard,
      slots,
      ...(permits ? { permits } : {}),
      ...(ready ? { ready: this.#readySource(ready) } : {}),
      process: (job, token) => this.#process(job, token),
      jobs: {
        lockDuration: leaseMs,
        stalledInterval: leaseMs / STALLED_CHECKS_PER_LEASE,
        maxStalledCount: MAX_STALLED,
        // Here and not with each ticket, which is read and written for every task.
        removeOnComplete: { count: keepCompletedTickets },
        removeOnFail: { count: keepFailedTickets },
        ...(limiter ? { limiter: { max: limiter.max, duration: limiter.durationMs } } : {}),
      },
    });
  }

  start(): void {
    this.#consumer.start();
  }

  get problem(): string | null {
    return this.#consumer.problem;
  }

  /** Claims no more tickets; the claimed ones go on. */
  async quiet(): Promise<void> {
    await this.#consumer.quiet();
  }

  /** Ends within about `graceMs`, also while Redis is away. */
  async stop(graceMs: number): Promise<void> {
    await this.#consumer.stop(graceMs);
    await within(Promise.all(this.#returning), RETURNING_MS);
  }

  #returned(job: Job<TicketData, string>): void {
    const returning = this.#options.onReturned(job.id ?? '', job.data).finally(() => this.#returning.delete(returning));
    this.#returning.add(returning);
  }

  get #isShared(): boolean {
    const { permits } = this.#options;
    return permits?.pool.isShared(permits.queue) ?? false;
  }

  /** Whether takers compare the next tickets of their queues in BullMQ, so that it has to have them. */
  get #fillsWindows(): boolean {
    return this.#isShared && this.#options.ready?.isPooled !== true;
  }

  #readySource(ready: ReadyTickets): ReadySource {
    const { isPooled } = ready;
    const take: ReadySource['take'] = async (slotQueue, ended) => {
      const slots = isPooled && slotQueue ? this.#options.permits?.pool.sharedSlots(slotQueue) : undefined;
      const taken = await ready.take({ isTicketOnly: this.#fillsWindows, slots, ended });
      if (taken === null) return null;
      this.#noteQueue(typeof taken === 'string' ? taken : taken.ticket.queue);
      if (typeof taken === 'string') return taken;
      const { queue, priority, acceptedAt: timestamp = Date.now() } = taken.ticket;
      return {
        ticket: ticketOf(queue, { priority: bullPriority(priority), timestamp }),
        run: () => this.#runReady(ready.of(queue), taken),
      };
    };
    return {
      isPooled,
      take,
      endedOf: (job) => this.#ended.get(job),
      count: () => ready.count(),
      dispatch: (idle) => ready.dispatch(idle),
    };
  }

  /** The ledger chose this queue for a slot. */
  #noteQueue(queue: TaskQueue): void {
    if (queue !== this.#options.queue) this.#options.permits?.pool.noteReady();
  }

  async #runReady(ready: ReadyTickets, { ticket, claimed }: TakenTicket): Promise<string | undefined> {
    const how = claimed ? { claimed } : { entry: ticket.entry, isShared: this.#fillsWindows };
    try {
      const result = await this.#options.handle(ticketJob(ticket).data, how, ticket.queue);
      if (result.kind === 'done') return result.ended;
      if (result.kind === 'failed') await ready.listFailed(ticket, result.message);
      else ready.putBack(ticket);
    } catch (error) {
      // A mistake of ours; its lease or the audit brings the task back.
      this.#options.source.log.error({ err: error, task: ticket.task }, 'a ready ticket could not be handled');
    }
    return undefined;
  }

  /** Where queues share their slots, BullMQ has the best tickets of each for comparison. */
  #claimOf(): TicketClaim {
    const isShared = this.#fillsWindows;
    return { isShared, order: isShared ? undefined : this.#options.ready?.order };
  }

  async #process(job: Job<TicketData, string>, token = ''): Promise<string> {
    // A ticket that comes again may be of a task whose needs have changed since it was new.
    const { needs, ...data } = job.data;
    const ticket: TicketData = needs && job.attemptsStarted <= 1 ? { ...data, needs } : data;
    const result: TicketResult =
      data.failed === undefined ? await this.#options.handle(ticket, this.#claimOf()) : { kind: 'failed', message: data.failed };
    switch (result.kind) {
      case 'done':
        if (result.ended !== undefined) this.#ended.set(job, result.ended);
        return result.note;
      case 'failed':
        throw Object.assign(new UnrecoverableError(result.message), { stack: result.message });
      case 'returned':
        await job.moveToWait(token);
        this.#returned(job);
        throw new WaitingError();
      case 'overtaken':
        await job.moveToWait(token);
        throw new OvertakenError();
    }
  }
}
