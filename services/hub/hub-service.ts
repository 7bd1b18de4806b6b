import type { Router } from 'express';
import type { FleetEvent } from '#shared/events/index.ts';
import type { LeaseKeeper, SignalListener } from '#shared/execution/index.ts';
import type { UpgradeHandler } from '#shared/http/index.ts';
import type { JobTaker, Service } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type Heartbeat, type JobSource, NO_BLOCKS, type WorkerActivity } from '#shared/queue/index.ts';
import { type Clock, within } from '#shared/time/index.ts';
import type { ConnectedDaemons } from './connections/connected-daemons.ts';

export interface HubServiceOptions {
  /** As records show it. */
  name: string;
  router: Router;
  upgrade: UpgradeHandler;
  daemons: ConnectedDaemons;
  dispatcher: { start(): void; stop(): Promise<void>; readonly problem: string | null };
  directory: { start(): void; stop(): Promise<void> };
  keeper: LeaseKeeper;
  heartbeat: Heartbeat;
  /** Opens where jobs come from. Called once, at the start. */
  openSource: () => JobSource;
  openTakers: (source: JobSource) => JobTaker[];
  /** Listens for stops and input, and for drains, until it is closed. */
  listen: (onDrain: (worker: string) => void) => SignalListener;
  /** Called when the drain starts, so that nothing new is claimed. */
  onDrain: () => void;
  /** Called when an operator's drain is complete. */
  onDrained: () => void;
  /** Publishes an event to the fleet's operators. Never rejects. */
  publish: (event: FleetEvent) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** What a stop may take for results that arrived and are being settled. */
const SETTLE_MS = 3000;
const CLOSE_MS = 2000;

/**
 * HubService is responsible for the order in which a hub starts and ends. At its end attempts go on: their daemons connect to another hub,
 * which adopts them.
 */
export class HubService implements Service {
  readonly name = 'hub';
  readonly router: Router;
  readonly upgrade: UpgradeHandler;
  readonly #options: HubServiceOptions;
  #source: JobSource | undefined;
  #listener: SignalListener | undefined;
  #takers: JobTaker[] = [];
  /** Resolves once no taker takes more and the daemons are gone; undefined before a drain. */
  #leaving: Promise<void> | undefined;

  constructor(options: HubServiceOptions) {
    this.#options = options;
    this.router = options.router;
    this.upgrade = options.upgrade;
  }

  async start(): Promise<void> {
    const { name, daemons, dispatcher, directory, keeper, heartbeat, listen, openSource, openTakers, publish, log } = this.#options;
    this.#source = openSource();
    this.#listener = listen((worker) => {
      if (worker === name) void this.drain();
    });
    this.#takers = openTakers(this.#source);
    keeper.start();
    directory.start();
    daemons.start();
    dispatcher.start();
    heartbeat.start({ activity: () => this.#activity(), drain: () => void this.drain() });
    for (const taker of this.#takers) taker.start();
    log.info({ event: 'hub.started', worker: name }, 'the hub waits for daemons');
    await publish('worker.started');
  }

  problems(): string[] {
    const { daemons, dispatcher } = this.#options;
    return [...this.#takers, ...(this.#listener ? [this.#listener] : []), daemons, dispatcher].flatMap(({ problem }) => problem ?? []);
  }

  /** Sends its daemons to other hubs and takes nothing more. For an operator's request, which may come again. */
  async drain(): Promise<void> {
    if (this.#leaving) return;
    const { heartbeat, keeper, onDrained, log, name } = this.#options;
    log.info({ event: 'hub.drain-requested', worker: name }, 'sends its daemons to other hubs, as an operator requested');
    await this.#leave();
    heartbeat.beatNow();
    await keeper.empty();
    onDrained();
  }

  async stop(graceMs: number): Promise<void> {
    const { dispatcher, directory, keeper, heartbeat, publish, clock, log, name } = this.#options;
    const end = clock.monotonic() + graceMs;
    await within(this.#leave(), Math.max(CLOSE_MS, graceMs - CLOSE_MS));
    await within(keeper.empty(), Math.min(SETTLE_MS, Math.max(0, end - clock.monotonic())));
    // What no daemon has: it returns to the queue.
    keeper.drain();
    await within(keeper.empty(), CLOSE_MS);
    await Promise.all(this.#takers.map((taker) => taker.stop(CLOSE_MS)));
    await Promise.all([dispatcher, directory, heartbeat].map((each) => each.stop()));
    keeper.stop();
    this.#listener?.close();
    this.#source?.close();
    await publish('worker.stopped');
    log.info({ event: 'hub.stopped', worker: name }, 'the hub has stopped; attempts of its daemons go on at other hubs');
  }

  #activity(): WorkerActivity {
    const { keeper } = this.#options;
    const isDraining = this.#leaving !== undefined;
    return { running: keeper.running.length, suspects: 0, isDraining, stopped: this.problems(), blocks: NO_BLOCKS };
  }

  /** Claims no more tickets and ends the connections. A second call resolves with the first. */
  async #leave(): Promise<void> {
    this.#leaving ??= this.#leaveOnce();
    await this.#leaving;
  }

  async #leaveOnce(): Promise<void> {
    const { daemons, onDrain, publish } = this.#options;
    onDrain();
    void publish('worker.draining');
    await daemons.close();
    await Promise.all(this.#takers.map((taker) => taker.quiet().catch(() => undefined)));
  }
}
