import type { TaskQueue } from '../../config/index.ts';
import type { ClaimIsolation, Ledger, SlotAnswer, SlotPool, TakenTicket } from '../../ledger/index.ts';
import { type Clock, Ticker, within } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { loadOf } from '../accept/log-accepted.ts';
import type { ForeignAgents } from '../registry/foreign-agents.ts';
import type { TicketRelay } from '../tickets/ticket-relay.ts';
import { DrawnJobs } from './drawn-jobs.ts';
import { type FetchedJob, JobFetcher } from './job-fetcher.ts';
import { RunningSlots } from './running-slots.ts';
import { type HandleTicket, runTicket } from './run-ticket.ts';
import { SlotClaims, type Wish } from './slot-claims.ts';
import type { SlotPolicy } from './slot-policy.ts';

export interface SlotWorkerOptions {
  ledger: Ledger;
  relay: Pick<TicketRelay, 'add'>;
  source: JobSource;
  /** The name of this worker; no other process has it. */
  worker: string;
  policy: SlotPolicy;
  /** Queues of which it takes tickets only: who runs their tasks is decided afterwards. */
  apart: ReadonlySet<TaskQueue>;
  /** Agents that other workers have and this one lacks. */
  foreign: Pick<ForeignAgents, 'text' | 'isOld' | 'refresh'>;
  isolation: () => ClaimIsolation | undefined;
  handle: HandleTicket;
  clock: Clock;
}

/** Between two looks of slots that are idle: whatever opened without a job starts within this time, ms. */
const POLL_MS = 1000;
/** Between two claims while nothing stands at `slot`: what is said there of idle slots holds for longer. */
const RENEW_MS = 20_000;

/**
 * SlotWorker is responsible for a process's slots: a free one claims the best task that stands at `slot`. A job of BullMQ wakes an idle slot;
 * one whose attempt ends claims in the round trip that settles it; and idle slots look every second.
 */
export class SlotWorker {
  readonly #options: SlotWorkerOptions;
  readonly #slots: RunningSlots;
  readonly #fetchers: JobFetcher[];
  readonly #drawn: DrawnJobs;
  readonly #ticker: Ticker;
  readonly #claims: SlotClaims;
  #running = new Set<Promise<void>>();
  #waiting = new Set<() => void>();
  readonly #wakes = new Map<string, NodeJS.Timeout>();
  #isQuiet = false;
  /** Monotonic, ms: the last claim of idle slots. */
  #claimedAt = -Infinity;

  constructor(options: SlotWorkerOptions) {
    const { ledger, policy, source } = options;
    const shards = Array.from({ length: ledger.keys.shards }, (_, shard) => shard);
    this.#options = options;
    this.#slots = new RunningSlots(policy, limitsOf(ledger, policy));
    this.#drawn = new DrawnJobs(source);
    this.#claims = new SlotClaims({
      ...options,
      slots: this.#slots,
      onAnswer: (shard, wish, answer) => this.#take(shard, wish, answer),
      onLost: ({ drawn }) => drawn.forEach((fetched) => this.#drawn.giveBack(fetched)),
      onFree: () => this.#wakeFetchers(),
    });
    this.#fetchers = shards.flatMap((shard) => [...policy.weights.keys()].map((queue) => this.#openFetcher(shard, queue)));
    this.#ticker = new Ticker({
      everyMs: POLL_MS,
      run: () => this.#poll(),
      onError: (error) => source.log.debug({ err: error }, 'idle slots could not look for tasks now'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  /** Claims nothing more; what runs goes on. */
  async quiet(): Promise<void> {
    if (this.#isQuiet) return;
    this.#isQuiet = true;
    for (const fetcher of this.#fetchers) fetcher.quiet();
    for (const timer of this.#wakes.values()) clearTimeout(timer);
    this.#wakeFetchers();
    // No job is made for its slots any more.
    await within(this.#claims.quiet(), POLL_MS);
  }

  /** Ends within about `graceMs`, also while Redis is away. */
  async stop(graceMs: number): Promise<void> {
    await this.quiet();
    void this.#ticker.stop();
    await within(Promise.all(this.#running), graceMs);
    await within(this.#drawn.idle(), POLL_MS);
    await within(Promise.all(this.#fetchers.map((fetcher) => fetcher.close())), POLL_MS);
  }

  /** Why it takes nothing, in words; else null. */
  get problem(): string | null {
    const { silentMs } = this.#claims;
    if (this.#isQuiet || silentMs < this.#options.source.settings.consumers.stoppedAfterMs) return null;
    return `no claim for its slots was answered for ${Math.round(silentMs / 1000)} s`;
  }

  #openFetcher(shard: number, queue: TaskQueue): JobFetcher {
    const fetcher: JobFetcher = new JobFetcher({
      source: this.#options.source,
      shard,
      queue,
      isFree: () => this.#isQuiet || this.#claims.freeFor(queue) > 0,
      untilFree: () => new Promise((resolve) => this.#waiting.add(resolve)),
      onJob: (fetched) => this.#onJob(shard, fetched, fetcher),
    });
    return fetcher;
  }

  #onJob(shard: number, fetched: FetchedJob, fetcher: JobFetcher): void {
    const { failed } = fetched.job.data;
    this.#drawn.add(fetched, fetcher);
    // It is here only to be listed as failed.
    if (failed !== undefined) return this.#drawn.fail(fetched, failed);
    this.#claims.ask(shard, { count: 1, drawn: [fetched] });
  }

  /** A slot has ended its attempt; `ended`: the lease of that. */
  #onEnded(shard: number, ended: string | undefined): void {
    this.#wakeFetchers();
    if (this.#isQuiet) return;
    const next = this.#claims.turn();
    this.#claims.ask(next, { count: 1, ended: ended !== undefined && next === shard ? [ended] : [], others: this.#others });
  }

  async #poll(): Promise<void> {
    if (performance.now() - this.#claimedAt < RENEW_MS && !(await this.#hasReady())) return;
    const isThere = await this.#options.foreign.refresh();
    if (this.#isQuiet || !isThere) return;
    this.#claimedAt = performance.now();
    this.#claims.resume();
    // Not before it is known what this worker leaves to others.
    for (const fetcher of this.#fetchers) fetcher.start();
    this.#claims.ask(this.#claims.turn(), { count: this.#claims.free, others: this.#others, isLook: true });
  }

  /** Whether anything stands at `slot`. A failure is left to the claim, which the worker follows. */
  async #hasReady(): Promise<boolean> {
    const { keys, redis } = this.#options.ledger;
    const shards = Array.from({ length: keys.shards }, (_, shard) => redis.exists(keys.shard(shard).ready));
    const counts = await Promise.all(shards).catch(() => null);
    const hasAny = counts === null || counts.some((count) => count > 0);
    if (!hasAny) this.#claims.noteAnswer();
    return hasAny;
  }

  /** Shards besides the one that is asked first. */
  get #others(): number {
    return this.#options.ledger.keys.shards - 1;
  }

  /** Returns what starts the tasks. */
  #take(shard: number, wish: Wish, { tickets, drawn, closed }: SlotAnswer): (() => void)[] {
    const own = this.#drawn.decide(wish.drawn, drawn);
    // A better task had the slot that a removed job was drawn for.
    if (tickets.length > 0 && drawn.includes('removed')) this.#claims.ask(shard, { count: 1 });
    const starts = tickets.map((taken) => this.#use(shard, taken, own));
    for (const each of own.values()) this.#drawn.remove(each);
    for (const [queue, until] of closed) this.#wakeAt(shard, queue, until);
    return starts;
  }

  /** Uses a slot for a ticket, whose task starts with the function that it returns. `drawn`: jobs of the tickets that a claim got, by task. */
  #use(shard: number, taken: TakenTicket, drawn: Map<string, FetchedJob>): () => void {
    const { ledger, relay, source, handle, clock } = this.#options;
    const { queue, priority, tenant, task, acceptedAt = clock.now() } = taken.ticket;
    const jobs = source.queues.get(shard, queue);
    const job = this.#drawn.jobOf(drawn, jobs, taken);
    const release = this.#slots.use({ queue, priority, acceptedAt, awaitedBy: taken.claimed?.state.awaitedBy }, clock.now());
    const log = { event: 'task.queued', task, tenant, queue, priority, ...loadOf({ ledger, log: source.log }, tenant) };
    source.log.debug(log, 'a slot gets a task');
    const run = async (): Promise<void> => {
      const result = await runTicket({ ledger, relay, log: source.log, handle }, taken, job?.job.data);
      release();
      this.#onEnded(shard, result.kind === 'done' ? result.ended : undefined);
      if (job) this.#drawn.end(job, result);
      else if (result.kind === 'failed') this.#drawn.listFailed(jobs, taken.ticket, result.message);
    };
    return () => {
      const running = run().finally(() => this.#running.delete(running));
      this.#running.add(running);
    };
  }

  #wakeAt(shard: number, queue: TaskQueue, until: number): void {
    const name = `${shard}/${queue}`;
    clearTimeout(this.#wakes.get(name));
    const wake = (): void => {
      this.#wakes.delete(name);
      this.#claims.ask(shard, { count: this.#claims.free });
    };
    this.#wakes.set(name, setTimeout(wake, Math.min(POLL_MS, Math.max(1, until - this.#options.clock.now()))).unref());
  }

  #wakeFetchers(): void {
    const waiting = [...this.#waiting];
    this.#waiting = new Set();
    for (const resolve of waiting) resolve();
  }
}

function limitsOf({ settings }: Pick<Ledger, 'settings'>, { weights }: SlotPolicy): SlotPool['limits'] {
  const limits = [...weights.keys()].flatMap((queue) => {
    const limiter = settings.queues[queue]?.limiter;
    return limiter ? [[queue, { max: limiter.max, duration: limiter.durationMs }] as const] : [];
  });
  return Object.fromEntries(limits);
}
