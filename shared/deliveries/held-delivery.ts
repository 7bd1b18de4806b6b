import { randomBytes } from 'node:crypto';
import { isRedisUnavailable } from '../redis/index.ts';
import { type Clock, wait } from '../time/index.ts';
import type { Delivery } from './delivery.ts';
import { putDelivery, type DeliveryPlace, type StoredDelivery } from './delivery-store.ts';

/** Thrown by a save when another process works on the delivery by now: whoever was frozen stops, and sends nothing more. */
export class DeliveryLost extends Error {
  override readonly name = 'DeliveryLost';
}

/** What a platform took must be written down, or it would be sent twice: so long Redis is waited for. */
const SAVE_TRIES = 20;
const SAVE_AGAIN_MS = 250;

/** HeldDelivery is responsible for one delivery while this process works on it: every change goes through its record first. */
export class HeldDelivery {
  readonly #place: DeliveryPlace;
  readonly #clock: Clock;
  #current: StoredDelivery;

  /** Takes the delivery from whoever had it. Returns null when it changed since it was read. */
  static async take(place: DeliveryPlace, found: StoredDelivery, clock: Clock): Promise<HeldDelivery | null> {
    const taken = { ...found.delivery, holder: randomBytes(8).toString('hex') };
    const current = await putDelivery(place, found, taken, clock.now());
    return current === null ? null : new HeldDelivery(place, current, clock);
  }

  private constructor(place: DeliveryPlace, current: StoredDelivery, clock: Clock) {
    this.#place = place;
    this.#current = current;
    this.#clock = clock;
  }

  get delivery(): Delivery {
    return this.#current.delivery;
  }

  /** Throws `DeliveryLost` when somebody else has it. While Redis is away it tries for about five seconds. */
  async save(change: Partial<Delivery>): Promise<void> {
    const next = { ...this.delivery, ...change };
    for (let tries = 1; ; tries += 1) {
      try {
        const put = await putDelivery(this.#place, this.#current, next, this.#clock.now());
        if (put === null) throw new DeliveryLost('Another process has this delivery');
        this.#current = put;
        return;
      } catch (error) {
        if (tries >= SAVE_TRIES || !isRedisUnavailable(error)) throw error;
        await wait(SAVE_AGAIN_MS);
      }
    }
  }
}
