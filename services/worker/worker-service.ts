import type { FleetEvent } from '#shared/events/index.ts';
import type { JobTaker, Service } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { ChoreRunner, Heartbeat, JobSource, WorkerActivity } from '#shared/queue/index.ts';
import { type Clock, within } from '#shared/time/index.ts';
import type { IsolationPool } from './isolation/isolation-pool.ts';
import type { LeaseKeeper, SignalListener } from '#shared/execution/index.ts';
import type { Watchdog } from './watchdog/watchdog.ts';
import type { DeletionCost, DeletionCostOptions } from './scale-in/deletion-cost.ts';
import type { Remote } from './remote/open-remote.ts';

export interface WorkerServiceOptions {
  /** As records show it. */
  name: string;
  /** Refuses the start when its agents could not run here. Throws `config.invalid`. */
  check: () => Promise<void>;
  keeper: LeaseKeeper;
  /** Runs suspects in child processes. */
  pool: IsolationPool;
  /** Reports that this worker is alive. */
  heartbeat: Heartbeat;
  /** Its part in the queue for machines with capabilities; null for a worker without any. */
  remote: Remote | null;
  /** What it does for the fleet again and again. */
  chores: Pick<ChoreRunner, 'start' | 'stop'>;
  /** Keeps what it costs to end this worker's pod, in Kubernetes; null elsewhere. `busy` is what it asks. */
  openDeletionCost: (busy: DeletionCostOptions['busy']) => DeletionCost | null;
  /** Finds the attempt that blocks or ends this process. */
  watchdog: Watchdog;
  /** Opens where jobs come from. Called once, at the start. */
  openSource: () => JobSource;
  /** Makes the takers of jobs from there. */
  openTakers: (source: JobSource) => JobTaker[];
  /** Listens for stops, and for drains of workers, until it is closed. */
  listen: (onDrain: (worker: string) => void) => SignalListener;
  /** Called when the drain starts, so that nothing new is claimed. */
  onDrain: () => void;
  /** Called when an operator's drain is complete: nothing runs here, and nothing will. */
  onDrained: () => void;
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
  #deletionCost: DeletionCost | null = null;
  /** Resolves once no taker takes more; undefined before a drain. */
  #quieting: Promise<void> | undefined;

  constructor(options: WorkerServiceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { check, openSource, openTakers, listen, keeper, chores, publish, log, name } = this.#options;
    await check();
    await this.#options.watchdog.start();
    this.#source = openSource();
    this.#listener = listen((worker) => {
      if (worker === name) void this.drain();
    });
    this.#takers = openTakers(this.#source);
    keeper.start();
    chores.start();
    this.#options.heartbeat.start({ activity: () => this.#activity(), drain: () => void this.drain() });
    this.#options.remote?.start();
    this.#deletionCost = this.#options.openDeletionCost(() => ({ running: this.#running, longestMs: keeper.longestMs }));
    this.#deletionCost?.start();
    for (const taker of this.#takers) taker.start();
    log.info({ event: 'worker.started', worker: name }, 'taking tickets');
    void publish('worker.started');
  }

  problems(): string[] {
    const { remote } = this.#options;
    return [...this.#takers, ...(this.#listener ? [this.#listener] : []), ...(remote ? [remote] : [])].flatMap(
      ({ problem }) => problem ?? [],
    );
  }

  /** Takes nothing more and lets all that runs end, or come to its next step, however long that takes. For an operator's request, which may come again. */
  async drain(): Promise<void> {
    if (this.#quieting) return;
    const { keeper, pool, heartbeat, onDrained, log, name } = this.#options;
    log.info({ event: 'worker.drain-requested', worker: name, running: this.#running }, 'takes no more tickets, as an operator requested');
    await this.#quiet();
    heartbeat.beatNow();
    await Promise.all([keeper.empty(), pool.empty()]);
    log.info({ event: 'worker.drained', worker: name }, 'nothing runs here any more');
    onDrained();
  }

  async stop(graceMs: number): Promise<void> {
    const { keeper, chores, pool, publish, clock, log, name } = this.#options;
    const end = clock.monotonic() + graceMs;
    await this.#quiet();
    const unfinished = await this.#drain(end - Math.min(HAND_BACK_MS, graceMs / 2));
    const left = Math.max(CLOSE_MS, end - clock.monotonic());
    await Promise.all(this.#takers.map((taker) => taker.stop(left)));
    // A completed attempt may still be settled while its ticket has ended already.
    await this.#whenIdle(Math.max(end, clock.monotonic() + CLOSE_MS));
    const { heartbeat, watchdog, remote } = this.#options;
    await Promise.all([remote?.stop(), this.#deletionCost?.stop()]);
    await Promise.all([chores, pool, heartbeat, watchdog].map((each) => each.stop()));
    keeper.stop();
    this.#listener?.close();
    this.#source?.close();
    await publish('worker.stopped');
    const rest = unfinished === 0 ? '' : `; handed back ${tasks(unfinished)} that had not ended, which costs no attempt`;
    log.info({ event: 'worker.stopped', worker: name, unfinished }, `the worker has stopped${rest}`);
  }

  get #running(): number {
    return this.#options.keeper.running.length + this.#options.pool.running;
  }

  #activity(): WorkerActivity {
    const { pool, watchdog } = this.#options;
    const isDraining = this.#quieting !== undefined;
    return { running: this.#running, suspects: pool.running, isDraining, stopped: this.problems(), blocks: watchdog.blocks };
  }

  /** Claims no more tickets, and has runs with steps go on elsewhere from their next one. A second call resolves with the first. */
  async #quiet(): Promise<void> {
    if (!this.#quieting) {
      const { keeper, pool, onDrain } = this.#options;
      onDrain();
      keeper.handOver();
      pool.handOver();
      void this.#options.publish('worker.draining');
      this.#quieting = Promise.all(this.#takers.map((taker) => taker.quiet().catch(() => undefined))).then(() => undefined);
    }
    await this.#quieting;
  }

  /** Lets running attempts end, and stops the others: their tasks return to the queue and lose no attempt. Returns how many. */
  async #drain(end: number): Promise<number> {
    const { keeper, pool, clock, log, name } = this.#options;
    const running = this.#running;
    const seconds = Math.max(0, Math.round((end - clock.monotonic()) / 1000));
    if (running > 0) {
      log.info({ event: 'worker.draining', worker: name, running }, `waits up to ${seconds} s for ${tasks(running)} to end`);
    }
    await this.#whenIdle(end);
    const unfinished = this.#running;
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
