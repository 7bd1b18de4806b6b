import type { Log } from '../../log/index.ts';
import type { Subscription } from '../../redis/index.ts';
import { type Clock, within } from '../../time/index.ts';
import type { QueueName } from '../queue-names.ts';
import { type Fleet, leasePermits, PERMIT_KINDS, type PermitKind } from './lease-permits.ts';
import { PermitPool } from './permit-pool.ts';
import { UNKNOWN_RANK } from './ticket-rank.ts';

export interface FleetPermitsOptions {
  fleet: Fleet;
  /** The worker's name; no other process has it. */
  worker: string;
  /** Tickets of each kind that it can run at once. */
  slots: Readonly<Record<PermitKind, number>>;
  /** Makes the subscription to these channels, for this alone. */
  subscribe: (channels: readonly string[], onMessage: (message: string) => void) => Subscription;
  clock: Clock;
  log: Log;
}

const RENEWALS_PER_LEASE = 4;
const RETURN_MS = 1000;

/**
 * FleetPermits is responsible for a worker's share of the fleet's cap: each ticket needs a permit, which is leased, so that the cap holds
 * whatever the number of shards, and the share of a dead worker returns.
 */
export class FleetPermits {
  readonly #options: FleetPermitsOptions;
  readonly #pools: ReadonlyMap<PermitKind, PermitPool>;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FleetPermitsOptions) {
    this.#options = options;
    const pools = PERMIT_KINDS.map((kind) => [kind, new PermitPool({ ...options, kind, slots: options.slots[kind] })] as const);
    this.#pools = new Map(pools.filter(([kind]) => options.slots[kind] > 0));
  }

  /** The permits for tickets of this queue. */
  of(queue: QueueName): PermitPool {
    const pool = this.#pools.get(kindOf(queue));
    if (!pool) throw new Error(`This worker has no slots for the queue "${queue}"`);
    return pool;
  }

  start(): void {
    const { fleet, subscribe } = this.#options;
    // The pools poll besides, for messages that are lost.
    this.#subscription = subscribe([fleet.keys.fleet.permitSignal], (message) => this.#receive(message));
    this.#subscription.start();
    this.#timer = setInterval(() => this.#renew(), fleet.settings.worker.leaseMs / RENEWALS_PER_LEASE);
    // Registers the kinds that this worker serves.
    this.#renew();
  }

  /** Returns all permits. Call it when nothing runs any more. */
  async stop(): Promise<void> {
    const { fleet, worker, log } = this.#options;
    clearInterval(this.#timer);
    await within(Promise.all([...this.#pools.values()].map((pool) => pool.close())), RETURN_MS);
    const end = { worker, kind: 'ordinary', holds: 0, needs: 0, spare: 0, rank: UNKNOWN_RANK, leaseMs: 0 } as const;
    await within(leasePermits(fleet, end), RETURN_MS).catch((error: unknown) => log.debug({ err: error }, 'permits end with their lease'));
    this.#subscription?.close();
  }

  #renew(): void {
    for (const pool of this.#pools.values()) pool.renew();
  }

  /** `wanted <kind> <worker>` reports a wait, `free <kind> <worker>,...` the workers that may have room now. */
  #receive(message: string): void {
    const { worker } = this.#options;
    const space = message.indexOf(' ');
    const names = message.slice(space + 1).split(',');
    for (const [kind, pool] of this.#pools) {
      const isOwn = names.includes(`${kind} ${worker}`);
      if (message.startsWith('free ') && isOwn) pool.wake();
      if (message.startsWith('wanted ') && !isOwn) pool.noteContention(message.startsWith('wanted critical') ? 'critical' : 'ordinary');
    }
  }
}

/** The kind of permit that a queue's tickets need. */
export function kindOf(queue: string): PermitKind {
  return queue === 'critical' ? 'critical' : 'ordinary';
}
