import type { Log } from '../../log/index.ts';
import { redisNow, type Subscription } from '../../redis/index.ts';
import { type Clock, within } from '../../time/index.ts';
import type { SlotPolicy } from './choose-next.ts';
import { type Fleet, kindOf, PERMIT_KINDS, type PermitKind } from './lease-permits.ts';
import { PermitLease } from './permit-lease.ts';
import { RunningSlots } from './running-slots.ts';
import { SlotPool } from './slot-pool.ts';

export interface FleetPermitsOptions {
  fleet: Fleet;
  /** The worker's name; no other process has it. */
  worker: string;
  /** Its slots, and how its queues share them. */
  policy: SlotPolicy;
  /** How long its attempts outlive this process, ms. Defaults to 0: they end with it. */
  keepMs?: number;
  /** Makes the subscription to these channels, for this alone. */
  subscribe: (channels: readonly string[], onMessage: (message: string) => void) => Subscription;
  clock: Clock;
  log: Log;
}

const RENEWALS_PER_LEASE = 4;
const RETURN_MS = 1000;
/** Between two checks whether the fleet's cap was changed. */
const CAP_CHECK_MS = 250;

/**
 * FleetPermits is responsible for a worker's share of the fleet's cap: each ticket needs a permit, which is leased, so that the cap holds
 * whatever the number of shards, and the share of a dead worker returns.
 */
export class FleetPermits {
  /** The worker's slots, each with a permit. */
  readonly pool: SlotPool;
  readonly #options: FleetPermitsOptions;
  readonly #kinds: readonly PermitKind[];
  readonly #leases: readonly PermitLease[];
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #capTimer: NodeJS.Timeout | undefined;
  /** The cap by which the permits were leased last. */
  #cap: number;

  constructor(options: FleetPermitsOptions) {
    const { policy, fleet, keepMs = 0 } = options;
    this.#options = options;
    this.#cap = fleet.fleetLimits().maxConcurrent;
    this.#kinds = PERMIT_KINDS.filter((kind) => [...policy.weights.keys()].some((queue) => kindOf(queue) === kind));
    const slots = { critical: policy.slots, ordinary: policy.slots - policy.reserved };
    const queues = [...policy.weights.keys()];
    this.#leases = this.#kinds.map((kind) => new PermitLease({ ...options, keepMs, kind, queues, slots: slots[kind] }));
    this.pool = new SlotPool({ slots: new RunningSlots(policy), leases: this.#leases, pollMs: fleet.settings.worker.fleetFullMs });
  }

  start(): void {
    const { fleet, subscribe } = this.#options;
    // The pool also polls, because messages may be lost.
    this.#subscription = subscribe([fleet.keys.fleet.permitSignal], (message) => this.#receive(message));
    this.#subscription.start();
    this.#timer = setInterval(() => this.pool.renew(), fleet.settings.worker.leaseMs / RENEWALS_PER_LEASE);
    this.#capTimer = setInterval(() => this.#followCap(), CAP_CHECK_MS);
    // Registers the kinds that this worker serves.
    this.pool.renew();
  }

  /** Returns all permits but those that were left. Call it when nothing runs here any more. */
  async stop(): Promise<void> {
    const { log } = this.#options;
    clearInterval(this.#timer);
    clearInterval(this.#capTimer);
    await within(this.pool.close(), RETURN_MS);
    const ending = Promise.all(this.#leases.map((lease) => lease.end()));
    await within(ending, RETURN_MS).catch((error: unknown) => log.debug({ err: error }, 'permits end with their lease'));
    this.#subscription?.close();
  }

  /** Whether the permits of a worker still count in the fleet. */
  async stands(worker: string): Promise<boolean> {
    const { redis, keys } = this.#options.fleet;
    const [until, now] = await Promise.all([redis.zscore(keys.fleet.permitHolders, worker), redisNow(redis)]);
    return until !== null && Number(until) > now;
  }

  /** Permits above a lowered cap return at once, and a raised cap has room for waiting workers. */
  #followCap(): void {
    const { maxConcurrent } = this.#options.fleet.fleetLimits();
    if (maxConcurrent === this.#cap) return;
    this.#cap = maxConcurrent;
    for (const kind of this.#kinds) this.pool.wake(kind);
    this.pool.renew();
  }

  /**
   * `wanted <kind> <worker> <queue>+...` reports a wait, with all queues that the worker serves, `free <kind> <worker>,...` the workers that may
   * have room now, and `moved <kind> <worker>` that others have taken over permits of that worker.
   */
  #receive(message: string): void {
    const { worker } = this.#options;
    if (message.startsWith('free ')) {
      const names = message.slice('free '.length).split(',');
      for (const kind of this.#kinds) if (names.includes(`${kind} ${worker}`)) this.pool.wake(kind);
      return;
    }
    const [what, wanted, name, queues] = message.split(' ');
    if (what === 'moved') this.#noteMoved(name);
    else this.#noteWaiter({ wanted, name, queues });
  }

  /** The next report says how many permits are left. */
  #noteMoved(from: string | undefined): void {
    if (from === this.#options.worker) this.pool.renew();
  }

  #noteWaiter({ wanted, name, queues }: Record<'wanted' | 'name' | 'queues', string | undefined>): void {
    const { worker } = this.#options;
    for (const kind of this.#kinds) {
      if (name === worker && wanted === kind) continue;
      this.pool.noteContention(kind, wanted === 'critical' ? 'critical' : 'ordinary', queues?.split('+'));
    }
  }
}
