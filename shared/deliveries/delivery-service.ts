import { createGuardedFetch } from '../agents/index.ts';
import type { EventFeed } from '../events/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import {
  type DeliveryEnd,
  type DeliveryJob,
  deliveryQueue,
  DeliveryWorker,
  type DeliveryWorkerOptions,
  ensureDeliveryJob,
  type JobSource,
  OUTBOUND_QUEUES,
  type OutboundQueue,
  type Queues,
} from '../queue/index.ts';
import type { TenantDirectory } from '../tenants/index.ts';
import { type Clock, systemClock } from '../time/index.ts';
import { CallbackSlots } from './callback-slots.ts';
import type { ChatPort } from './chat-port.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { DeliverySweep } from './delivery-sweep.ts';
import { handleDelivery } from './handle-delivery.ts';
import { trimEndpoints } from './callback-endpoints.ts';
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
  /** The chat platforms of this process, for replies. */
  ports: readonly ChatPort[];
  /** Where its jobs come from; stays the caller's. */
  source: JobSource;
  /** The queues that it takes deliveries of, and how many at once per shard. */
  slots: Partial<Record<OutboundQueue, number>>;
  /** By default the system's. */
  clock?: Clock;
}

/**
 * DeliveryService is responsible for sending results outward: it works on deliveries of its queues on all shards, and looks for those of
 * all queues that nobody works on. Any number of processes may run it.
 */
export class DeliveryService {
  readonly #options: DeliveryServiceOptions;
  readonly #sweep: DeliverySweep;
  readonly #room: WaitingRoom;
  readonly #clock: Clock;
  #workers = new Map<OutboundQueue, DeliveryWorker[]>();
  #timers: NodeJS.Timeout[] = [];
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;

  constructor(options: DeliveryServiceOptions) {
    const { parts, clock = systemClock } = options;
    const { ledger, queues, log } = parts;
    this.#options = options;
    this.#clock = clock;
    this.#sweep = new DeliverySweep({ ledger, queues, clock, log });
    this.#room = new WaitingRoom({
      events: parts.events,
      queues,
      keys: ledger.keys,
      log,
      keepMs: 2 * ledger.settings.deliveries.auditMs,
      clock: this.#clock,
    });
  }

  start(): void {
    const { parts } = this.#options;
    const { settings } = parts.ledger;
    const context = this.#createContext();
    this.#workers = this.#openWorkers(context);
    for (const worker of this.#all()) worker.start();
    this.#timers = [
      setInterval(() => this.#look(), settings.deliveries.sweepMs),
      setInterval(
        () => void this.#trim().catch((error: unknown) => parts.log.debug({ err: error }, 'trimmed later')),
        parts.ledger.settings.deliveries.trimMs,
      ),
    ];
  }

  problems(): string[] {
    return this.#all().flatMap(({ problem }) => problem ?? []);
  }

  /** Takes nothing new. What waits for an agent goes back at once, for another process; what is being sent is sent. */
  async stop(graceMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#all().map((worker) => worker.stop(graceMs)));
    this.#room.close();
    await this.#looking;
  }

  #openWorkers(context: DeliveryContext): Map<OutboundQueue, DeliveryWorker[]> {
    const { parts, source, slots } = this.#options;
    const { keys } = parts.ledger;
    const served = OUTBOUND_QUEUES.map((queue) => {
      const open = (shard: number, most: number): DeliveryWorker => {
        const handle: DeliveryWorkerOptions['handle'] = (job, signal) =>
          deliveryQueue(job.kind) === queue ? handleDelivery(context, job, signal) : this.#move(shard, job);
        return new DeliveryWorker({ source, shard, queue, slots: most, handle });
      };
      const most = slots[queue] ?? 0;
      return [queue, most > 0 ? Array.from({ length: keys.shards }, (_, shard) => open(shard, most)) : []] as const;
    });
    return new Map(served);
  }

  /** Older processes put all deliveries into one queue. */
  async #move(shard: number, job: DeliveryJob): Promise<DeliveryEnd> {
    await ensureDeliveryJob(this.#options.parts.queues, shard, job, true);
    return { kind: 'done', note: 'moved to its queue' };
  }

  #all(): DeliveryWorker[] {
    return [...this.#workers.values()].flat();
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
      isCrowded: (tenant) => this.#workers.get('replies')?.[keys.shardOf(tenant)]?.isCrowded ?? false,
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
    for (const { id } of tenants.list()) {
      await trimDeliveries(ledger, id, this.#clock.now());
      await trimEndpoints(ledger, id, this.#clock.now());
    }
  }
}
