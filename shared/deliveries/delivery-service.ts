import { createGuardedFetch } from '../agents/create-guarded-fetch.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/create-log.ts';
import { DeliveryWorker } from '../queue/delivery-worker.ts';
import type { Queues } from '../queue/queues.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { TenantDirectory } from '../tenants/tenant-directory.ts';
import type { Clock } from '../time/clock.ts';
import { systemClock } from '../time/clock.ts';
import { CallbackSlots } from './callback-slots.ts';
import type { ChatPort } from './chat-port.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { DeliverySweep } from './delivery-sweep.ts';
import { handleDelivery } from './handle-delivery.ts';
import { trimDeliveries } from './trim-deliveries.ts';
import { TypingSigns } from './typing-signs.ts';
import { WaitingRoom } from './waiting-room.ts';

/** What deliveries are composed of; `Parts` has them all. */
export interface DeliveryParts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly events: Pick<EventFeed, 'onTask'>;
  readonly tenants: Pick<TenantDirectory, 'list'>;
  readonly log: Log;
}

export interface DeliveryServiceOptions {
  parts: DeliveryParts;
  /** The chat platforms of this process. Callbacks are sent also without any. */
  ports: readonly ChatPort[];
  /** Opens a connection that may block; the service closes it. Called once, at the start. */
  connect: () => RedisClient;
  /** By default the system's. */
  clock?: Clock;
}

/** Between two rounds of dropping names of deliveries whose time to be read is over. */
const TRIM_MS = 60_000;

/**
 * DeliveryService is responsible for sending results outward: it works on deliveries of all shards, and looks for those that
 * nobody works on. Any number of processes may run it.
 */
export class DeliveryService {
  readonly #options: DeliveryServiceOptions;
  readonly #sweep: DeliverySweep;
  readonly #room: WaitingRoom;
  readonly #clock: Clock;
  #workers: DeliveryWorker[] = [];
  #connection: RedisClient | undefined;
  #timers: NodeJS.Timeout[] = [];
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;

  constructor(options: DeliveryServiceOptions) {
    const { parts, clock = systemClock } = options;
    const { ledger, queues, log } = parts;
    this.#options = options;
    this.#clock = clock;
    this.#sweep = new DeliverySweep({ ledger, queues, clock, log });
    this.#room = new WaitingRoom({ events: parts.events, queues, keys: ledger.keys, log });
  }

  start(): void {
    const { parts, connect } = this.#options;
    const { settings, keys } = parts.ledger;
    const connection = connect();
    this.#connection = connection;
    const context = this.#createContext();
    this.#workers = Array.from(
      { length: keys.shards },
      (_, shard) =>
        new DeliveryWorker({
          settings,
          connection,
          prefix: keys.shard(shard).queues,
          handle: (job, signal) => handleDelivery(context, job, signal),
          log: parts.log,
        }),
    );
    for (const worker of this.#workers) worker.start();
    this.#timers = [
      setInterval(() => this.#look(), settings.deliveries.sweepMs),
      setInterval(() => void this.#trim().catch((error: unknown) => parts.log.debug({ err: error }, 'trimmed later')), TRIM_MS),
    ];
  }

  /** Takes nothing new. What waits for an agent goes back at once, for another process; what is being sent is sent. */
  async stop(graceMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#workers.map((worker) => worker.stop(graceMs)));
    this.#room.close();
    await this.#looking;
    this.#connection?.disconnect();
  }

  #createContext(): DeliveryContext {
    const { parts, ports } = this.#options;
    const { settings, keys } = parts.ledger;
    const { allowNetworks, maxResponseBytes } = settings.outbound;
    return {
      ...parts,
      clock: this.#clock,
      ports: new Map(ports.map((port) => [port.platform, port])),
      typing: new TypingSigns(settings.deliveries, this.#clock),
      fetch: createGuardedFetch({ allowNetworks, maxResponseBytes }),
      callbackSlots: new CallbackSlots(settings.deliveries.callbacks.maxPerTenant),
      waitingRoom: this.#room,
      isCrowded: (tenant) => this.#workers[keys.shardOf(tenant)]?.isCrowded ?? false,
    };
  }

  /** A look that takes longer than the time between two is not joined by another. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looking = this.#lookAtAll().finally(() => {
      this.#isLooking = false;
    });
  }

  async #lookAtAll(): Promise<void> {
    const { ledger, log } = this.#options.parts;
    for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
      await this.#sweep.look(shard).catch((error: unknown) => log.debug({ err: error }, 'ended tasks are looked for again later'));
    }
  }

  async #trim(): Promise<void> {
    const { tenants, ledger } = this.#options.parts;
    for (const { id } of tenants.list()) await trimDeliveries(ledger, id, this.#clock.now());
  }
}
