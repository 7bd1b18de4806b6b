import type { Worker } from 'bullmq';
import { within } from '../../time/index.ts';
import type { TicketPermits } from '../permits/permitted-worker.ts';
import type { QueueName } from '../queue-names.ts';
import type { TicketData, TicketQueue } from '../queues.ts';
import type { JobSource } from './job-source.ts';
import { type ConsumerJobOptions, type ConsumerProcessor, openConsumer, type OpenConsumer } from './open-consumer.ts';

interface QueueConsumerOptions {
  source: JobSource;
  queue: QueueName;
  shard: number;
  /** Jobs at once. */
  slots: number;
  /** What its jobs are taken under. */
  permits?: TicketPermits;
  process: ConsumerProcessor;
  jobs?: ConsumerJobOptions;
  /** Told of each worker of BullMQ's that is opened, to listen to it. */
  onOpened?: (worker: Worker<TicketData, string>) => void;
}

/** Looks in a row that find a queue unasked before it is opened again: a process that was frozen wakes up with one. */
const LOOKS = 2;
/** Without waiting jobs a queue counts as stopped after so many times the bound. */
const IDLE_FACTOR = 3;
/** How long a worker without jobs may take to close: it waits for nothing but its connections. */
const CLOSE_MS = 1000;
/** How long a connection may take to end. */
const LEAVE_MS = 500;
/** The longest timer there is; jobs of a replaced worker end in their own time. */
const UNBOUNDED_MS = 2 ** 31 - 1;

/**
 * QueueConsumer is responsible for one queue's jobs being taken as long as this process has free slots: it watches whether the queue is
 * asked, opens it again on connections of its own when it is not, and ends the process when that does not help.
 */
export class QueueConsumer {
  readonly #options: QueueConsumerOptions;
  readonly #retired = new Set<OpenConsumer>();
  #current: OpenConsumer | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Monotonic, ms: when the queue was asked, or could not be asked for a reason of Redis's. */
  #askedAt = 0;
  #silentLooks = 0;
  #reopens = 0;
  #isLooking = false;
  #isQuiet = false;

  constructor(options: QueueConsumerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#open();
    this.#timer = setInterval(() => void this.#watch(), this.#options.source.settings.consumers.watchMs);
  }

  /** Takes no more jobs; those it has go on. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#current?.worker.pause(true);
  }

  /** Ends within about `graceMs`, also while Redis is away. Answers whether all jobs ended. */
  async stop(graceMs: number): Promise<boolean> {
    this.#isQuiet = true;
    clearInterval(this.#timer);
    return (await Promise.all(this.#opened().map((consumer) => consumer.close(graceMs)))).every(Boolean);
  }

  /** Resolves once nothing of it waits for jobs any more, after it began to stop; jobs that are handed back then wake others. */
  async hasLeft(): Promise<void> {
    await within(Promise.all(this.#opened().map((consumer) => consumer.hasLeft())), LEAVE_MS);
  }

  /** What keeps the queue from being taken, in words; null while it moves. */
  get problem(): string | null {
    const { queue, shard } = this.#options;
    if (this.#reopens === 0 && this.#silentLooks < LOOKS) return null;
    return `nothing is taken from the queue "${queue}" of shard ${shard}`;
  }

  #opened(): OpenConsumer[] {
    return [...this.#retired, ...(this.#current ? [this.#current] : [])];
  }

  #open(): void {
    const { source, queue, shard, slots, permits, process, jobs = {}, onOpened } = this.#options;
    this.#askedAt = performance.now();
    const consumer = openConsumer({
      source,
      queue,
      shard,
      slots: slots - this.#retiredJobs(),
      isReopened: this.#reopens > 0,
      permits,
      process: (job, token) => process(job, token).finally(() => this.#fit()),
      onAsked: () => {
        if (consumer === this.#current) this.#asked();
      },
      jobs,
    });
    this.#current = consumer;
    onOpened?.(consumer.worker);
  }

  #asked(): void {
    this.#askedAt = performance.now();
    this.#silentLooks = 0;
    this.#reopens = 0;
  }

  #retiredJobs(): number {
    return [...this.#retired].reduce((sum, { busy }) => sum + busy, 0);
  }

  /** Jobs of replaced workers keep their slots until they end. */
  #fit(): void {
    if (this.#current && this.#retired.size > 0) this.#current.worker.concurrency = Math.max(this.#options.slots - this.#retiredJobs(), 1);
  }

  async #watch(): Promise<void> {
    if (this.#isLooking || this.#isQuiet) return;
    this.#isLooking = true;
    this.#silentLooks = (await this.#isSilent()) ? this.#silentLooks + 1 : 0;
    this.#isLooking = false;
    if (this.#silentLooks >= LOOKS && !this.#isQuiet) this.#reopen();
  }

  async #isSilent(): Promise<boolean> {
    const { source, queue, shard, slots, jobs } = this.#options;
    if (this.#hasNoRoom(slots)) this.#askedAt = performance.now();
    const boundMs = source.settings.consumers.stoppedAfterMs + (jobs?.limiter?.duration ?? 0);
    const unaskedMs = performance.now() - this.#askedAt;
    if (unaskedMs < boundMs) return false;
    try {
      return (await hasDueJobs(source.queues.get(shard, queue))) || unaskedMs >= IDLE_FACTOR * boundMs;
    } catch {
      // Redis is away, and its return gives the worker the whole time again.
      this.#askedAt = performance.now();
      return false;
    }
  }

  /** Without a free slot, or room in the fleet, it has no reason to ask, and asks as soon as there is some. */
  #hasNoRoom(slots: number): boolean {
    if (!this.#current) return false;
    return this.#current.worker.isWaitingForPermit || this.#current.busy + this.#retiredJobs() >= slots;
  }

  #reopen(): void {
    const { source, queue, shard } = this.#options;
    const { maxReopens } = source.settings.consumers;
    if (this.#reopens >= maxReopens) {
      clearInterval(this.#timer);
      source.fail(new Error(`The queue "${queue}" of shard ${shard} was opened ${maxReopens} times and never asked for its jobs`));
      return;
    }
    this.#reopens += 1;
    this.#silentLooks = 0;
    const unaskedMs = Math.round(performance.now() - this.#askedAt);
    source.log.warn(
      { event: 'queue.reopened', queue, shard, unaskedMs, times: this.#reopens, connections: this.#current?.states() },
      'a queue was not asked for its jobs; opened again',
    );
    if (this.#current) void this.#retire(this.#current);
    this.#open();
  }

  async #retire(consumer: OpenConsumer): Promise<void> {
    this.#retired.add(consumer);
    await consumer.close(consumer.busy === 0 ? CLOSE_MS : UNBOUNDED_MS);
    this.#retired.delete(consumer);
    this.#fit();
  }
}

/** Whether a queue has jobs that somebody should take now. Rejects while Redis is away. */
async function hasDueJobs(queue: TicketQueue): Promise<boolean> {
  if (await queue.isPaused()) return false;
  const { waiting = 0, prioritized = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'prioritized', 'delayed');
  if (waiting + prioritized > 0) return true;
  if (delayed === 0) return false;
  const [next] = await queue.getJobs(['delayed'], 0, 0, true);
  return next !== undefined && next.timestamp + next.delay <= Date.now();
}
