import type { Worker } from 'bullmq';
import { Ticker, within } from '../../time/index.ts';
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
  process: ConsumerProcessor;
  jobs?: ConsumerJobOptions;
  /** Called with each BullMQ worker that is opened, to subscribe to it. */
  onOpened?: (worker: Worker<TicketData, string>) => void;
}

/** Checks in a row that find a queue unpolled before it is opened again: a process that was frozen wakes up with one. */
const SILENT_CHECKS = 2;
/** Without waiting jobs a queue counts as stopped after so many times the bound. */
const IDLE_FACTOR = 3;
/** How long an idle worker may take to close: it waits for nothing but its connections. */
const CLOSE_MS = 1000;
/** How long a connection may take to end. */
const LEAVE_MS = 500;
/** The longest timer there is; jobs of a replaced worker end in their own time. */
const UNBOUNDED_MS = 2 ** 31 - 1;

/**
 * QueueConsumer is responsible for claiming one queue's jobs as long as this process has free slots: it watches whether the queue is
 * polled, opens it again on connections of its own when it is not, and ends the process when that does not help.
 */
export class QueueConsumer {
  readonly #options: QueueConsumerOptions;
  readonly #retired = new Set<OpenConsumer>();
  #current: OpenConsumer | undefined;
  readonly #ticker: Ticker;
  /** Monotonic, ms: when the queue was polled, or could not be polled because Redis was away. */
  #polledAt = 0;
  #silentChecks = 0;
  #reopens = 0;
  #isQuiet = false;

  constructor(options: QueueConsumerOptions) {
    this.#options = options;
    const { source, queue } = options;
    this.#ticker = new Ticker({
      everyMs: source.settings.consumers.watchMs,
      run: () => this.#watch(),
      onError: (error) => source.fail(new Error(`The queue "${queue}" cannot be watched`, { cause: error })),
    });
  }

  start(): void {
    this.#open();
    this.#ticker.start();
  }

  /** Claims no more jobs; the claimed ones go on. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#current?.worker.pause(true);
  }

  /** Ends within about `graceMs`, also while Redis is away. Answers whether all jobs ended. */
  async stop(graceMs: number): Promise<boolean> {
    this.#isQuiet = true;
    void this.#ticker.stop();
    return (await Promise.all(this.#opened().map((consumer) => consumer.close(graceMs)))).every(Boolean);
  }

  /** Resolves once none of its workers waits for jobs, after it began to stop; returned jobs then wake other processes. */
  async hasLeft(): Promise<void> {
    await within(Promise.all(this.#opened().map((consumer) => consumer.hasLeft())), LEAVE_MS);
  }

  /** In words, while the queue is not consumed; else null. */
  get problem(): string | null {
    const { queue, shard } = this.#options;
    if (this.#reopens === 0 && this.#silentChecks < SILENT_CHECKS) return null;
    return `the queue "${queue}" of shard ${shard} is not consumed`;
  }

  #opened(): OpenConsumer[] {
    return [...this.#retired, ...(this.#current ? [this.#current] : [])];
  }

  #open(): void {
    const { source, queue, shard, slots, process, jobs = {}, onOpened } = this.#options;
    this.#polledAt = performance.now();
    const consumer = openConsumer({
      source,
      queue,
      shard,
      slots: slots - this.#retiredJobs(),
      isReopened: this.#reopens > 0,
      process: (job, token) => process(job, token).finally(() => this.#fit()),
      onPolled: () => {
        if (consumer === this.#current) this.#notePoll();
      },
      jobs,
    });
    this.#current = consumer;
    onOpened?.(consumer.worker);
  }

  #notePoll(): void {
    this.#polledAt = performance.now();
    this.#silentChecks = 0;
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
    if (this.#isQuiet) return;
    this.#silentChecks = (await this.#isSilent()) ? this.#silentChecks + 1 : 0;
    if (this.#silentChecks >= SILENT_CHECKS && !this.#isQuiet) this.#reopen();
  }

  async #isSilent(): Promise<boolean> {
    const { source, queue, shard, slots, jobs } = this.#options;
    if (this.#hasNoRoom(slots)) this.#polledAt = performance.now();
    const boundMs = source.settings.consumers.stoppedAfterMs + (jobs?.limiter?.duration ?? 0);
    const unpolledMs = performance.now() - this.#polledAt;
    if (unpolledMs < boundMs) return false;
    try {
      return (await hasDueJobs(source.queues.get(shard, queue))) || unpolledMs >= IDLE_FACTOR * boundMs;
    } catch {
      // Redis is away, and its return gives the worker the full time again.
      this.#polledAt = performance.now();
      return false;
    }
  }

  /** Without a free slot it has no reason to poll. */
  #hasNoRoom(slots: number): boolean {
    if (!this.#current) return false;
    return this.#current.busy + this.#retiredJobs() >= slots;
  }

  #reopen(): void {
    const { source, queue, shard } = this.#options;
    const { maxReopens } = source.settings.consumers;
    if (this.#reopens >= maxReopens) {
      void this.#ticker.stop();
      source.fail(new Error(`The queue "${queue}" of shard ${shard} was opened ${maxReopens} times and never polled`));
      return;
    }
    this.#reopens += 1;
    this.#silentChecks = 0;
    const unpolledMs = Math.round(performance.now() - this.#polledAt);
    source.log.warn(
      { event: 'queue.reopened', queue, shard, unpolledMs, times: this.#reopens, connections: this.#current?.states() },
      'a queue was not polled; opened again',
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

/** Whether a queue has jobs that are to be claimed now. Rejects while Redis is away. */
async function hasDueJobs(queue: TicketQueue): Promise<boolean> {
  if (await queue.isPaused()) return false;
  const { waiting = 0, prioritized = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'prioritized', 'delayed');
  if (waiting + prioritized > 0) return true;
  if (delayed === 0) return false;
  const [next] = await queue.getJobs(['delayed'], 0, 0, true);
  return next !== undefined && next.timestamp + next.delay <= Date.now();
}
