import { hostname } from 'node:os';
import { installedVersion } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import { clockSkew, describeSkew } from '../../redis/index.ts';
import { type Clock, Ticker } from '../../time/index.ts';
import { LastingProblems } from './lasting-problems.ts';
import { ProcessMeter } from './process-meter.ts';
import { beat, type RegistryPorts, removeWorker } from './worker-registry.ts';
import type { WorkerReport } from './worker-report.ts';

/** What a worker does at the moment, as its report has it. */
export type WorkerActivity = Pick<WorkerReport, 'running' | 'suspects' | 'isDraining' | 'stopped' | 'blocks'>;

export interface HeartbeatOptions {
  fleet: RegistryPorts;
  /** This worker's name. */
  worker: string;
  /** What it serves, and how many attempts it may run at once. */
  capacity: Pick<WorkerReport, 'queues' | 'slots'> & Partial<Pick<WorkerReport, 'sure' | 'group'>>;
  /** Defaults to `worker`. */
  role?: WorkerReport['role'];
  clock: Clock;
  log: Log;
}

/** The worker that a heartbeat is of. */
export interface ReportingWorker {
  activity: () => WorkerActivity;
  /** Called when an operator requested its drain; may come more than once. */
  drain: () => void;
}

/** A clock that differs by more makes records and logs contradict each other. */
const SKEW_WARN_MS = 1000;
/** Bounds of what one report says. */
const MAX_STOPPED = 20;
const MAX_TEXT = 200;

/**
 * Heartbeat is responsible for reporting that this worker is alive and what it does, and for obeying a drain that was requested. On the
 * way it measures how far this machine's clock is from Redis's.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #ticker: Ticker;
  readonly #meter: ProcessMeter;
  readonly #problems = new LastingProblems();
  #worker: ReportingWorker | undefined;
  #identity: Pick<WorkerReport, 'host' | 'pid' | 'version' | 'startedAt'> | undefined;
  #isSkewed = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#meter = new ProcessMeter(options.clock);
    this.#ticker = new Ticker({
      everyMs: options.fleet.settings.worker.heartbeatIntervalMs,
      run: () => this.#beat(),
      onError: (error) => options.log.debug({ err: error }, 'a heartbeat failed'),
    });
  }

  start(worker: ReportingWorker): void {
    const startedAt = this.#options.clock.now();
    this.#worker = worker;
    this.#identity = { host: hostname(), pid: process.pid, version: installedVersion(), startedAt };
    this.#meter.start();
    this.#ticker.start();
    this.#ticker.tick();
  }

  /** Reports now, unless a report is under way. */
  beatNow(): void {
    this.#ticker.tick();
  }

  /** Reports that this worker is gone. */
  async stop(): Promise<void> {
    const { fleet, worker, log } = this.#options;
    await this.#ticker.stop();
    this.#meter.stop();
    await removeWorker(fleet, worker).catch((error: unknown) => log.debug({ err: error }, 'other workers will miss the heartbeat'));
  }

  async #beat(): Promise<void> {
    const { fleet, worker, role = 'worker', capacity, clock, log } = this.#options;
    if (!this.#worker || !this.#identity) return;
    const skewMs = await clockSkew(fleet.redis, clock);
    this.#watchSkew(skewMs);
    const activity = this.#worker.activity();
    const stopped = this.#problems
      .reported(activity.stopped, clock.monotonic())
      .slice(0, MAX_STOPPED)
      .map((text) => text.slice(0, MAX_TEXT));
    const report = { role, ...this.#identity, ...capacity, ...activity, stopped, skewMs, ...this.#meter.read() };
    const { isDrainRequested, wasDead } = await beat(fleet, worker, report);
    if (wasDead) log.warn({ event: 'worker.returned', worker }, 'this worker was marked as dead, and goes on');
    if (isDrainRequested) this.#worker.drain();
  }

  #watchSkew(skewMs: number): void {
    const { log } = this.#options;
    const isSkewed = Math.abs(skewMs) > SKEW_WARN_MS;
    if (isSkewed && !this.#isSkewed) log.warn({ event: 'clock.skewed', skewMs }, `this machine's clock is ${describeSkew(skewMs)}`);
    if (!isSkewed && this.#isSkewed) log.info({ event: 'clock.right', skewMs }, "this machine's clock is right again");
    this.#isSkewed = isSkewed;
  }
}
