import type { FleetEvent } from '#shared/events/index.ts';
import type { Service } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { JobSource } from '#shared/queue/index.ts';
import { type Clock, within } from '#shared/time/index.ts';
import type { IsolationPool } from './isolation/isolation-pool.ts';
import type { LeaseKeeper } from './attempt/lease-keeper.ts';
import type { Reclaimer } from './upkeep/reclaimer.ts';
import type { Heartbeat } from './upkeep/heartbeat.ts';
import type { Watchdog } from './watchdog/watchdog.ts';
import type { DuePromoter } from './upkeep/due-promoter.ts';
import type { SignalListener } from './attempt/signal-listener.ts';

/** Something that takes jobs from BullMQ. */
export interface JobTaker {
  start(): void;
  /** Takes no more jobs; those it has continue. */
  quiet(): Promise<void>;
  stop(graceMs: number): Promise<void>;
  /** Why it takes no jobs, in words; null while it takes them. */
  readonly problem: string | null;
}

export interface WorkerServiceOptions {
  /** As records show it. */
  name: string;
  /** Refuses the start when its agents could not run here. Throws `config.invalid`. */
  check: () => Promise<void>;
  keeper: LeaseKeeper;
  /** Runs suspects in child processes. */
  pool: IsolationPool;
  reclaimer: Reclaimer;
  /** Reports that this worker is alive. */
  heartbeat: Heartbeat;
  /** Finds the attempt that blocks or ends this process. */
  watchdog: Watchdog;
  promoter: DuePromoter;
  /** Its share of the fleet's cap, which bounds the takers. */
  permits: { start(): void; stop(): Promise<void> };
  /** Opens where jobs come from. Called once, at the start. */
  openSource: () => JobSource;
  /** Makes the takers of jobs from there. */
  openTakers: (source: JobSource) => JobTaker[];
  /** Listens for stops until it is closed. */
  listen: () => SignalListener;
  /** Called when the drain starts, so that nothing new is claimed. */
  onDrain: () => void;
  /** Publishes an event to the fleet's operators. Never rejects. */
  publish: (event: FleetEvent) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** Kept back from the drain for aborting agents and handing their tasks back. */
const HAND_BACK_MS = 5000;
const CLOSE_MS = 2000;

/**
 * WorkerService is responsible for the order in which a worker starts and ends, so that a deploy hands every task back
 * without costing it an attempt.
 */
export class WorkerService implements Service {
  readonly name = 'worker';
  readonly #options: WorkerServiceOptions;
  #source: JobSource | undefined;
  #listener: SignalListener | undefined;
  #takers: JobTaker[] = [];

  constructor(options: WorkerServiceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { check, openSource, openTakers, permits, listen, keeper, reclaimer, promoter, publish, log, name } = this.#options;
    await check();
    await this.#options.watchdog.start();
    this.#source = openSource();
    this.#listener = listen();
    this.#takers = openTakers(this.#source);
    permits.start();
    keeper.start();
    reclaimer.start();
    promoter.start();
    this.#options.heartbeat.start();
    for (const taker of this.#takers) taker.start();
    log.info({ event: 'worker.started', worker: name }, 'taking tickets');
    void publish('worker.started');
  }

  problems(): string[] {
    return [...this.#takers, ...(this.#listener ? [this.#listener] : [])].flatMap(({ problem }) => problem ?? []);
  }

  async stop(graceMs: number): Promise<void> {
    const { onDrain, permits, keeper, pool, reclaimer, promoter, publish, clock, log, name } = this.#options;
    const end = clock.monotonic() + graceMs;
    onDrain();
    void publish('worker.draining');
    await Promise.all(this.#takers.map((taker) => taker.quiet().catch(() => undefined)));
    const unfinished = await this.#drain(end - Math.min(HAND_BACK_MS, graceMs / 2));
    const left = Math.max(CLOSE_MS, end - clock.monotonic());
    await Promise.all(this.#takers.map((taker) => taker.stop(left)));
    // A completed attempt may still be settled while its ticket has ended already.
    await this.#whenIdle(Math.max(end, clock.monotonic() + CLOSE_MS));
    const { heartbeat, watchdog } = this.#options;
    await Promise.all([permits, reclaimer, promoter, pool, heartbeat, watchdog].map((each) => each.stop()));
    keeper.stop();
    this.#listener?.close();
    this.#source?.close();
    await publish('worker.stopped');
    const rest = unfinished === 0 ? '' : `; handed back ${tasks(unfinished)} that had not ended, which costs no attempt`;
    log.info({ event: 'worker.stopped', worker: name, unfinished }, `takes no more tickets${rest}`);
  }

  /** Lets running attempts end, and stops those that do not: their tasks are handed back at the price of no attempt. Returns how many. */
  async #drain(end: number): Promise<number> {
    const { keeper, pool, clock, log, name } = this.#options;
    const running = keeper.running.length + pool.running;
    const seconds = Math.max(0, Math.round((end - clock.monotonic()) / 1000));
    if (running > 0) {
      log.info({ event: 'worker.draining', worker: name, running }, `waits up to ${seconds} s for ${tasks(running)} to end`);
    }
    await this.#whenIdle(end);
    const unfinished = keeper.running.length + pool.running;
    keeper.drain();
    pool.drain();
    return unfinished;
  }

  /** Waits until nothing runs or is settled here, at most until `end`. */
  async #whenIdle(end: number): Promise<void> {
    const { keeper, pool, clock } = this.#options;
    await within(Promise.all([keeper.empty(), pool.empty()]), Math.max(0, end - clock.monotonic()));
  }
}

function tasks(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}
