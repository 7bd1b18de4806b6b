import type { Settings } from '#shared/config/index.ts';
import type { Log } from '#shared/log/index.ts';
import { isEntryId, type Keys, readRecord, readRecords, type ReadRecords, type RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import { truncateBytes } from '#shared/text/index.ts';
import type { Hook } from '../hook.ts';
import { type StoredDelivery, storedDeliverySchema } from './hook-delivery.ts';

interface HookDeliveriesParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings['webhooks']['deliveries'];
  /** Throws when the tenant has stored all that it may. */
  assertRoom(tenant: string): void;
  readonly log: Log;
}

/** A flood of requests that prove nothing must not push out what was accepted, so each kind has its own bound. */
const KINDS = { a: 'accepted', r: 'refused' } as const;
type Letter = keyof typeof KINDS;
const ID = /^(?<letter>[ar])-(?<entry>\d+-\d+)$/;
const FIELD = 'delivery';

export type DeliveryRecord = StoredDelivery & { readonly id: string };

/** HookDeliveries is responsible for the newest deliveries of each hook, which show a person why a sender's request made no task. */
export class HookDeliveries {
  readonly #parts: HookDeliveriesParts;

  constructor(parts: HookDeliveriesParts) {
    this.#parts = parts;
  }

  /** Never rejects: a webhook is answered whether its record is kept or not. */
  async add({ tenant, id }: Pick<Hook, 'tenant' | 'id'>, delivery: StoredDelivery): Promise<void> {
    const { redis, keys, settings, log } = this.#parts;
    const { keep, maxBytes, retentionMs } = settings;
    try {
      this.#parts.assertRoom(tenant);
      const isComplete = Buffer.byteLength(delivery.payload) <= maxBytes;
      const kept = { ...delivery, payload: truncateBytes(delivery.payload, maxBytes), mayReplay: delivery.mayReplay && isComplete };
      const key = keys.tenant(tenant).hookDeliveries(id, delivery.verdict === 'refused' ? 'refused' : 'accepted');
      const command = ['XADD', 'MAXLEN', keep, '*', FIELD, JSON.stringify(kept)] as const;
      await writeOfTenant({ redis, keys }, { tenant, key, command, keepMs: retentionMs });
    } catch (error) {
      log.debug({ err: error, hook: id }, 'the record of a delivery could not be kept');
    }
  }

  /** All that are kept, newest first. */
  async list(tenant: string, hook: string): Promise<ReadRecords<DeliveryRecord>> {
    const { redis, keys } = this.#parts;
    const letters: readonly Letter[] = ['a', 'r'];
    const lists = await Promise.all(
      letters.map(async (letter) => {
        const entries = await redis.xrevrange(keys.tenant(tenant).hookDeliveries(hook, KINDS[letter]), '+', '-');
        return entries.map(([entry, [, text = '']]) => [`${letter}-${entry}`, text] as const);
      }),
    );
    return readRecords(lists.flat().toSorted(newestFirst), readDelivery);
  }

  async find(tenant: string, hook: string, id: string): Promise<DeliveryRecord | null> {
    const { letter, entry = '' } = ID.exec(id)?.groups ?? {};
    if ((letter !== 'a' && letter !== 'r') || !isEntryId(entry)) return null;
    const { redis, keys } = this.#parts;
    const [found] = await redis.xrange(keys.tenant(tenant).hookDeliveries(hook, KINDS[letter]), entry, entry);
    const text = found?.[1][1];
    return text === undefined ? null : readRecord(id, text, (stored) => readDelivery(stored, id));
  }

  /** Forgets those of a hook that is deleted. */
  async remove(tenant: string, hook: string): Promise<void> {
    const { redis, keys } = this.#parts;
    await redis.del(...Object.values(KINDS).map((kind) => keys.tenant(tenant).hookDeliveries(hook, kind)));
  }
}

function readDelivery(text: string, id: string): DeliveryRecord {
  return { id, ...storedDeliverySchema.parse(JSON.parse(text)) };
}

function newestFirst([a]: readonly [string, string], [b]: readonly [string, string]): number {
  const [, aMs = '0', aNumber = '0'] = a.split('-');
  const [, bMs = '0', bNumber = '0'] = b.split('-');
  return Number(bMs) - Number(aMs) || Number(bNumber) - Number(aNumber) || (a < b ? -1 : 1);
}
