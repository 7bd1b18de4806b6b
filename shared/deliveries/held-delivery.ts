import type { GuardedFetch } from '../agents/index.ts';
import type { EventFeed } from '../events/index.ts';
import type { FileStore } from '../files/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { attemptTraceparent, type Log, type Span } from '../log/index.ts';
import type { Queues, DeliveryEnd } from '../queue/index.ts';
import type { Task } from '../tasks/index.ts';
import { type Clock, wait } from '../time/index.ts';
import type { CallbackSlots } from './callbacks/deliver-callback.ts';
import type { ChatPort, TypingSigns } from './replies/chat-port.ts';
import type { WaitingRoom } from './waiting-room.ts';
import { randomBytes } from 'node:crypto';
import { isRedisUnavailable } from '../redis/index.ts';
import { type DeliveryStorage, putDelivery, type StoredDelivery } from './delivery-store.ts';
import type { Delivery, DeliveryError, DeliveryStatus } from './delivery.ts';

/** What the deliveries of one process share. */
export interface DeliveryContext {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly events: Pick<EventFeed, 'onTask'>;
  readonly files: Pick<FileStore, 'list' | 'open'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly ports: ReadonlyMap<string, ChatPort>;
  readonly typing: TypingSigns;
  readonly fetch: GuardedFetch;
  readonly callbackSlots: CallbackSlots;
  readonly waitingRoom: WaitingRoom;
  /** Whether a delivery whose task only waits should leave its slot to others. */
  isCrowded(tenant: string): boolean;
}

/** Starts the span of a try to deliver, below the attempt that it reports of. `startedAt`: ms since the epoch, by default now. */
export function startDeliverySpan(
  { traces }: Pick<Ledger, 'traces'>,
  { body, state }: Task,
  { kind, attempts }: Delivery,
  startedAt?: number,
): Span | undefined {
  return traces?.start(`deliver ${kind}`, {
    parent: state.token > 0 ? attemptTraceparent(body, state.token) : body.traceparent,
    kind: 'client',
    attributes: { 'muster.task.id': body.id, 'muster.delivery.attempt': attempts },
    startedAt,
  });
}

/** Thrown by a save when another process has taken the delivery: a process that was frozen stops, and sends nothing more. */
export class DeliveryLost extends Error {
  override readonly name = 'DeliveryLost';
}

/** A message that a platform took must be recorded, or it would be sent twice: so long a save waits for Redis. */
const SAVE_TRIES = 20;
const SAVE_RETRY_MS = 250;

/** HeldDelivery is responsible for one delivery while this process works on it: every change goes through its record first. */
export class HeldDelivery {
  readonly #storage: DeliveryStorage;
  readonly #clock: Clock;
  #current: StoredDelivery;

  /** Takes the delivery from whichever process had it. Returns null when it changed since it was read. */
  static async take(storage: DeliveryStorage, found: StoredDelivery, clock: Clock): Promise<HeldDelivery | null> {
    const taken = { ...found.delivery, holder: randomBytes(8).toString('hex') };
    const current = await putDelivery(storage, found, taken, clock.now());
    return current === null ? null : new HeldDelivery(storage, current, clock);
  }

  private constructor(storage: DeliveryStorage, current: StoredDelivery, clock: Clock) {
    this.#storage = storage;
    this.#current = current;
    this.#clock = clock;
  }

  get delivery(): Delivery {
    return this.#current.delivery;
  }

  /** Throws `DeliveryLost` when another process has it. While Redis is away it tries for about five seconds. */
  async save(change: Partial<Delivery>): Promise<void> {
    const next = { ...this.delivery, ...change };
    for (let tries = 1; ; tries += 1) {
      try {
        const put = await putDelivery(this.#storage, this.#current, next, this.#clock.now());
        if (put === null) throw new DeliveryLost('Another process has this delivery');
        this.#current = put;
        return;
      } catch (error) {
        if (tries >= SAVE_TRIES || !isRedisUnavailable(error)) throw error;
        await wait(SAVE_RETRY_MS);
      }
    }
  }
}

/** Ends a delivery. A failure is in its record and in the log only: a delivery about it could fail in turn. */
export async function endDelivery(
  { clock, log }: Pick<DeliveryContext, 'clock' | 'log'>,
  held: HeldDelivery,
  status: Exclude<DeliveryStatus, 'pending'>,
  error: DeliveryError | null = null,
): Promise<DeliveryEnd> {
  const deliveredAt = status === 'delivered' ? clock.now() : null;
  await held.save({ status, error, nextTryAt: null, deliveredAt });
  const { tenant, task, id, kind, attempts, platform } = held.delivery;
  const fields = { event: `delivery.${status}`, delivery: id, tenant, task, kind, platform, attempts };
  if (status === 'delivered') log.debug(fields, 'delivered');
  else log.warn({ ...fields, code: error?.code, reason: error?.message }, 'a delivery ended without success');
  return { kind: 'done', note: status };
}
