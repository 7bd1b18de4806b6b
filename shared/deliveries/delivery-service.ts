import { createGuardedFetch } from '../agents/index.ts';
import type { EventFeed } from '../events/index.ts';
import type { FileStore } from '../files/index.ts';
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
import { type Clock, systemClock, Ticker } from '../time/index.ts';
import { trimEndpoints } from './callbacks/callback-records.ts';
import { CallbackSlots } from './callbacks/deliver-callback.ts';
import type { DeliveryContext } from './held-delivery.ts';
import { trimDeliveries } from './delivery-lookups.ts';
import { DeliverySweep } from './delivery-sweep.ts';
import { handleDelivery } from './handle-delivery.ts';
import { type ChatPort, TypingSigns } from './replies/chat-port.ts';
import { WaitingRoom } from './waiting-room.ts';

/** What deliveries are composed of; `Parts` has them all. */
export interface DeliveryParts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly events: Pick<EventFeed, 'onTask'>;
  readonly files: Pick<FileStore, 'list' | 'open'>;
  readonly tenants: Pick<TenantDirectory, 'list'>;
  readonly log: Log;
}

export interface DeliveryServiceOptions {
  parts: DeliveryParts;
  /** The chat platforms of this process, for replies. */
  ports: readonly ChatPort[];
  /** The source of its jobs; the caller closes it. */
  source: JobSource;
  /** The queues that it takes deliveries of, and how many at once per shard. */
  slots: Partial<Record<OutboundQueue, number>>;
  /** By default the system's. */
  clock?: Clock;
}

/**
 * DeliveryService is responsible for sending results outward: it works on deliveries of its queues on all shards, and sweeps up abandoned
 * deliveries of all queues. Any number of processes may run it.
 */
export class DeliveryService {
  readonly #options: DeliveryServiceOptions;
  readonly #sweep: DeliverySweep;
  readonly #waitingRoom: WaitingRoom;
  readonly #clock: Clock;
  #workers = new Map<OutboundQueue, DeliveryWorker[]>();
  /** Whether the last sweep found nothing. */
  #isIdle = false;
  readonly #sweeps: Ticker;
  readonly #trims: Ticker;

  constructor(options: DeliveryServiceOptions) {
    const { parts, clock = systemClock } = options;
    const { ledger, queues, log } = parts;
    this.#options = options;
    this.#clock = clock;
    this.#sweep = new DeliverySweep({ ledger, queues, clock, log });
    this.#waitingRoom = new WaitingRoom({
      events: parts.events,
      queues,
      keys: ledger.keys,
      log,
      keepMs: 2 * ledger.settings.deliveries.auditMs,
      clock: this.#clock,
    });
    const { sweepMs, trimMs } = ledger.settings.deliveries;
    this.#sweeps = new Ticker({
      everyMs: sweepMs,
      run: () => this.#sweepAll(),
      onError: (error) => log.debug({ err: error }, 'the sweeps failed; the next come soon'),
    });
    this.#trims = new Ticker({
      everyMs: trimMs,
      run: () => this.#trim(),
      onError: (error) => log.debug({ err: error }, 'the trim failed; the next comes later'),
    });
  }

  start(): void {
    this.#workers = this.#openWorkers(this.#createContext());
    for (const worker of this.#allWorkers()) worker.start();
    this.#sweeps.start();
    this.#trims.start();
  }

  problems(): string[] {
    return this.#allWorkers().flatMap(({ problem }) => problem ?? []);
  }

  /** Takes no new job. Deliveries that wait for an agent go back at once, for another process; what is being sent is sent. */
  async stop(graceMs: number): Promise<void> {
    const sweeping = this.#sweeps.stop();
    void this.#trims.stop();
    await Promise.all(this.#allWorkers().map((worker) => worker.stop(graceMs)));
    this.#waitingRoom.close();
    await sweeping;
  }

  #openWorkers(context: DeliveryContext): Map<OutboundQueue, DeliveryWorker[]> {
    const { parts, source, slots } = this.#options;
    const { keys } = parts.ledger;
    const served = OUTBOUND_QUEUES.map((queue) => {
      const open = (shard: number, slotCount: number): DeliveryWorker => {
        const handle: DeliveryWorkerOptions['handle'] = (job, signal) =>
          deliveryQueue(job.kind) === queue ? handleDelivery(context, job, signal) : this.#moveToItsQueue(shard, job);
        return new DeliveryWorker({ source, shard, queue, slots: slotCount, handle });
      };
      const slotCount = slots[queue] ?? 0;
      return [queue, slotCount > 0 ? Array.from({ length: keys.shards }, (_, shard) => open(shard, slotCount)) : []] as const;
    });
    return new Map(served);
  }

  /** Older processes put all deliveries into one queue. */
  async #moveToItsQueue(shard: number, job: DeliveryJob): Promise<DeliveryEnd> {
    await ensureDeliveryJob(this.#options.parts.queues, shard, job, true);
    return { kind: 'done', note: 'moved to its queue' };
  }

  #allWorkers(): DeliveryWorker[] {
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
      waitingRoom: this.#waitingRoom,
      isCrowded: (tenant) => this.#workers.get('replies')?.[keys.shardOf(tenant)]?.isCrowded ?? false,
    };
  }

  /** After one that found nothing the next is left out. */
  async #sweepAll(): Promise<void> {
    const { ledger, log } = this.#options.parts;
    this.#isIdle = !this.#isIdle && !(await this.#sweepShards(ledger.keys.shards, log));
  }

  async #sweepShards(shards: number, log: Log): Promise<boolean> {
    let hadAny = false;
    for (let shard = 0; shard < shards; shard += 1) {
      const sweeping = this.#sweep.sweepShard(shard).catch((error: unknown) => {
        log.debug({ err: error }, 'the sweep failed; the next comes soon');
        return true;
      });
      hadAny = (await sweeping) || hadAny;
    }
    return hadAny;
  }

  async #trim(): Promise<void> {
    const { tenants, ledger } = this.#options.parts;
    for (const { id } of tenants.list()) {
      await trimDeliveries(ledger, id, this.#clock.now());
      await trimEndpoints(ledger, id, this.#clock.now());
    }
  }
}
