import type { FleetEvent } from '#shared/events/tell-fleet.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Clock } from '#shared/time/clock.ts';
import { within } from '#shared/time/wait.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { Reclaimer } from './reclaimer.ts';

/** Something that takes jobs from BullMQ. */
export interface JobTaker {
  start(): void;
  /** Takes no more; those it has go on. */
  quiet(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

export interface WorkerServiceOptions {
  /** As records show it. */
  name: string;
  /** Refuses the start when its agents could not run here. Throws `config.invalid`. */
  check: () => Promise<void>;
  keeper: LeaseKeeper;
  reclaimer: Reclaimer;
  /** Opens a connection that may block. Called once, at the start. */
  connect: () => RedisClient;
  /** Makes what takes jobs on that connection. */
  openTakers: (connection: RedisClient) => JobTaker[];
  /** Listens for stops until it is closed. */
  listen: () => { close(): void };
  /** Told when the worker starts to end, so that nothing new is claimed. */
  onDrain: () => void;
  /** Tells the fleet's operators. Never rejects. */
  tell: (event: FleetEvent) => Promise<void>;
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
  #connection: RedisClient | undefined;
  #listener: { close(): void } | undefined;
  #takers: JobTaker[] = [];

  constructor(options: WorkerServiceOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { check, connect, openTakers, listen, keeper, reclaimer, tell, log, name } = this.#options;
    await check();
    this.#connection = connect();
    this.#listener = listen();
    this.#takers = openTakers(this.#connection);
    keeper.start();
    reclaimer.start();
    for (const taker of this.#takers) taker.start();
    log.info({ event: 'worker.started', worker: name }, 'taking tickets');
    void tell('worker.started');
  }

  async stop(graceMs: number): Promise<void> {
    const { onDrain, keeper, reclaimer, tell, clock, log, name } = this.#options;
    const end = clock.monotonic() + graceMs;
    onDrain();
    void tell('worker.draining');
    await Promise.all(this.#takers.map((taker) => taker.quiet().catch(() => undefined)));
    const unfinished = await this.#drain(end - Math.min(HAND_BACK_MS, graceMs / 2));
    const left = Math.max(CLOSE_MS, end - clock.monotonic());
    await Promise.all(this.#takers.map((taker) => taker.stop(left)));
    // A completed attempt may still be settled while its ticket has ended already.
    await this.#settled(Math.max(end, clock.monotonic() + CLOSE_MS));
    await reclaimer.stop();
    keeper.stop();
    this.#listener?.close();
    this.#connection?.disconnect();
    await tell('worker.stopped');
    const rest = unfinished === 0 ? '' : `; handed back ${tasks(unfinished)} that had not ended, which costs no attempt`;
    log.info({ event: 'worker.stopped', worker: name, unfinished }, `takes no more tickets${rest}`);
  }

  /** Lets running attempts end, and stops those that do not: their tasks go back without costing an attempt. Returns how many. */
  async #drain(end: number): Promise<number> {
    const { keeper, clock, log, name } = this.#options;
    const running = keeper.running.length;
    const seconds = Math.max(0, Math.round((end - clock.monotonic()) / 1000));
    if (running > 0) {
      log.info({ event: 'worker.draining', worker: name, running }, `waits up to ${seconds} s for ${tasks(running)} to end`);
    }
    await this.#settled(end);
    const unfinished = keeper.running;
    for (const attempt of unfinished) attempt.stop({ kind: 'drain' });
    return unfinished.length;
  }

  /** Until nothing runs and nothing is settled here any more, at most until `end`. */
  async #settled(end: number): Promise<void> {
    const { keeper, clock } = this.#options;
    await within(keeper.empty(), Math.max(0, end - clock.monotonic()));
  }
}

function tasks(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}
