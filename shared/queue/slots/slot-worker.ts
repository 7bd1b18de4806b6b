import type { TaskQueue } from '../../config/index.ts';
import { type ClaimIsolation, claimForSlots, type Ledger, type SlotAnswer, type SlotPool, type TakenTicket } from '../../ledger/index.ts';
import { type Clock, Ticker, within } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import { loadOf } from '../accept/log-accepted.ts';
import type { ForeignAgents } from '../registry/foreign-agents.ts';
import type { TicketRelay } from '../tickets/ticket-relay.ts';
import { DrawnJobs } from './drawn-jobs.ts';
import { type FetchedJob, JobFetcher } from './job-fetcher.ts';
import { RunningSlots } from './running-slots.ts';
import { type HandleTicket, runTicket } from './run-ticket.ts';
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
  foreign: Pick<ForeignAgents, 'text' | 'refresh'>;
  isolation: () => ClaimIsolation | undefined;
  handle: HandleTicket;
  clock: Clock;
}

/** Between two claims of slots that are idle: whatever opened without a job starts within this time, ms. */
const POLL_MS = 1000;

/** What the slots of one shard want: see `SlotClaim`. */
interface Wish {
  count: number;
  drawn: FetchedJob[];
  ended: string[];
  /** Further shards that are asked for what this one cannot fill; a look of idle slots asks them in any case. */
  others: number;
  isLook: boolean;
}

const nothing = (): Wish => ({ count: 0, drawn: [], ended: [], others: 0, isLook: false });

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
  /** By shard: what the next claim asks for, and whether one is under way. */
  readonly #wishes: Wish[];
  readonly #claiming: boolean[];
  /** Slots that claims under way may fill. */
  #asked = 0;
  /** The shard that the next free slot asks first, when there are several. */
  #next = 0;
  #running = new Set<Promise<void>>();
  #waiting = new Set<() => void>();
  readonly #wakes = new Map<string, NodeJS.Timeout>();
  #isQuiet = false;
  /** Whether the last call failed: the next poll that is answered goes on. */
  #isAway = false;
  /** Monotonic, ms: the last claim that was answered. */
  #answeredAt = 0;

  constructor(options: SlotWorkerOptions) {
    const { ledger, policy, source } = options;
    const shards = Array.from({ length: ledger.keys.shards }, (_, shard) => shard);
    this.#options = options;
    this.#slots = new RunningSlots(policy, limitsOf(ledger, policy));
    this.#drawn = new DrawnJobs(source);
    this.#wishes = shards.map(nothing);
    this.#claiming = shards.map(() => false);
    this.#fetchers = shards.flatMap((shard) => [...policy.weights.keys()].map((queue) => this.#openFetcher(shard, queue)));
    this.#ticker = new Ticker({
      everyMs: POLL_MS,
      run: () => this.#poll(),
      onError: (error) => source.log.debug({ err: error }, 'idle slots could not look for tasks now'),
    });
  }

  start(): void {
    this.#answeredAt = this.#options.clock.monotonic();
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
    await within(Promise.all(this.#wishes.map((_, shard) => this.#claim(shard, nothing()))), POLL_MS);
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
    const { clock, source } = this.#options;
    const silentMs = clock.monotonic() - this.#answeredAt;
    if (this.#isQuiet || silentMs < source.settings.consumers.stoppedAfterMs) return null;
    return `no claim for its slots was answered for ${Math.round(silentMs / 1000)} s`;
  }

  #openFetcher(shard: number, queue: TaskQueue): JobFetcher {
    const fetcher: JobFetcher = new JobFetcher({
      source: this.#options.source,
      shard,
      queue,
      isFree: () => this.#isQuiet || this.#slots.freeFor(queue, this.#asked) > 0,
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
    this.#ask(shard, { ...nothing(), count: 1, drawn: [fetched] });
  }

  /** A slot has ended its attempt; `ended`: the lease of that. */
  #onEnded(shard: number, ended: string | undefined): void {
    this.#wakeFetchers();
    if (this.#isQuiet) return;
    const next = this.#turn();
    this.#ask(next, {
      ...nothing(),
      count: 1,
      ended: ended !== undefined && next === shard ? [ended] : [],
      others: this.#wishes.length - 1,
    });
  }

  async #poll(): Promise<void> {
    const isThere = await this.#options.foreign.refresh();
    if (this.#isQuiet || !isThere) return;
    this.#isAway = false;
    // Not before it is known what this worker leaves to others.
    for (const fetcher of this.#fetchers) fetcher.start();
    this.#ask(this.#turn(), { ...nothing(), count: this.#free, others: this.#wishes.length - 1, isLook: true });
  }

  get #free(): number {
    return this.#slots.freeFor('critical', this.#asked);
  }

  /** The shard that is asked next: each in its turn. */
  #turn(): number {
    this.#next = (this.#next + 1) % this.#wishes.length;
    return this.#next;
  }

  #ask(shard: number, { count, drawn, ended, others, isLook }: Wish): void {
    const wish = this.#wishes[shard];
    if (!wish) return;
    wish.count += count;
    wish.drawn.push(...drawn);
    wish.ended.push(...ended);
    wish.others = Math.max(wish.others, others);
    wish.isLook ||= isLook;
    if (this.#claiming[shard] || this.#isAway) return;
    this.#wishes[shard] = nothing();
    void this.#claim(shard, wish);
  }

  /** One claim of a shard is under way at a time, so that each knows what runs. */
  async #claim(shard: number, wish: Wish): Promise<void> {
    this.#claiming[shard] = true;
    const count = Math.min(wish.count, this.#free);
    const pool = this.#isQuiet ? closedPool(this.#slots.pool(0, '')) : this.#slots.pool(this.#asked, this.#options.foreign.text);
    this.#asked += count;
    try {
      const answer = await this.#send(shard, { ...wish, count }, pool);
      this.#answeredAt = this.#options.clock.monotonic();
      this.#asked -= count;
      this.#take(shard, wish, answer);
      this.#askOthers(shard, wish, count - answer.tickets.length);
    } catch (error) {
      this.#asked -= count;
      // A call that waits for Redis would start tasks of which this worker never hears.
      this.#isAway = true;
      this.#options.source.log.debug({ err: error, shard }, 'slots could not claim now');
      for (const fetched of wish.drawn) this.#drawn.giveBack(fetched);
    }
    this.#claiming[shard] = false;
    this.#wakeFetchers();
    const next = this.#wishes[shard];
    if (!next || this.#isAway || (next.count === 0 && next.drawn.length === 0 && !next.isLook)) return;
    this.#wishes[shard] = nothing();
    void this.#claim(shard, next);
  }

  /** What a shard left of its slots is for the next one. */
  #askOthers(shard: number, { others, isLook }: Wish, left: number): void {
    if (others === 0 || (left <= 0 && !isLook)) return;
    this.#ask((shard + 1) % this.#wishes.length, { ...nothing(), count: Math.max(0, left), others: others - 1, isLook });
  }

  async #send(shard: number, { count, drawn, ended }: Wish, pool: SlotPool): Promise<SlotAnswer> {
    const { ledger, worker, policy, apart, isolation, source } = this.#options;
    return await claimForSlots(ledger, {
      shard,
      worker,
      queues: [...policy.weights.keys()].map((queue) => ({
        queue,
        pauses: source.queues.get(shard, queue).toKey('meta'),
        isApart: apart.has(queue),
      })),
      count: this.#isQuiet ? 0 : count,
      pool,
      drawn: drawn.map(({ job }) => ({ tenant: job.data.tenant, task: job.data.task, isSecond: job.attemptsStarted > 1 })),
      ended,
      isolation: isolation(),
    });
  }

  #take(shard: number, wish: Wish, { tickets, drawn, closed }: SlotAnswer): void {
    const own = this.#drawn.decide(wish.drawn, drawn);
    // A better task had the slot that a removed job was drawn for.
    if (tickets.length > 0 && drawn.includes('removed')) this.#ask(shard, { ...nothing(), count: 1 });
    for (const taken of tickets) this.#run(shard, taken, own);
    for (const each of own.values()) this.#drawn.remove(each);
    for (const [queue, until] of closed) this.#wakeAt(shard, queue, until);
  }

  /** `drawn`: jobs of the tickets that a claim got, by task. */
  #run(shard: number, taken: TakenTicket, drawn: Map<string, FetchedJob>): void {
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
    const running = run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #wakeAt(shard: number, queue: TaskQueue, until: number): void {
    const name = `${shard}/${queue}`;
    clearTimeout(this.#wakes.get(name));
    const wake = (): void => {
      this.#wakes.delete(name);
      this.#ask(shard, { ...nothing(), count: this.#free });
    };
    this.#wakes.set(name, setTimeout(wake, Math.min(POLL_MS, Math.max(1, until - this.#options.clock.now()))).unref());
  }

  #wakeFetchers(): void {
    const waiting = [...this.#waiting];
    this.#waiting = new Set();
    for (const resolve of waiting) resolve();
  }
}

/** The pool of a worker that takes nothing more. */
function closedPool(pool: SlotPool): SlotPool {
  return { ...pool, free: 0, ordinary: 0, people: 0, awaited: 0 };
}

function limitsOf({ settings }: Pick<Ledger, 'settings'>, { weights }: SlotPolicy): SlotPool['limits'] {
  const limits = [...weights.keys()].flatMap((queue) => {
    const limiter = settings.queues[queue]?.limiter;
    return limiter ? [[queue, { max: limiter.max, duration: limiter.durationMs }] as const] : [];
  });
  return Object.fromEntries(limits);
}
