import { type Keys, readRecord, type RedisClient } from '../redis/index.ts';
import { Recent } from '../time/index.ts';
import { type ApiKey, keyDigest, readKey } from './key-store.ts';
import { isVisitorToken } from './visitor-store.ts';
import { runTenantScript } from './write-of-tenant.ts';

interface AdmissionPorts {
  redis: RedisClient;
  keys: Keys;
}

export interface AdmissionOptions {
  /** The Redis key that counts the calls with a key. */
  counterOf: (key: ApiKey) => string;
  /** After so long a counter starts again. */
  windowS: number;
}

/** A key that calls came with, and how many came with it in this window. */
export interface AdmittedKey {
  readonly key: ApiKey;
  readonly counted: number;
  /** How many of them are this call's. */
  readonly calls: number;
  /** Until the window ends, ms. */
  readonly leftMs: number;
}

/** Where a key may be stored; the field is empty for a string. */
interface Place {
  readonly name: string;
  readonly field: string;
}

interface Known {
  readonly stored: string;
  readonly key: ApiKey;
  readonly counter: string;
}

type AdmitReply = [stored: string, counted?: number, leftMs?: number] | null;

/** Keys whose counter is remembered. */
const MAX_KNOWN = 1000;
/** A counter that is not the key's costs another trip; a key changes at most once while it is read. */
const MAX_TRIES = 3;

/** KeyAdmissions is responsible for finding the key that calls came with and counting them, in one trip to Redis. */
export class KeyAdmissions {
  readonly #ports: AdmissionPorts;
  readonly #options: AdmissionOptions;
  /** What was read last at a place: its counter. Whether the key still opens anything is read each time. */
  readonly #known = new Recent<string, Known>({ maxEntries: MAX_KNOWN });

  constructor(ports: AdmissionPorts, options: AdmissionOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** The key with this secret, or the visitor's with this token; null when there is none, or its tenant has ended. Counts `calls` for it. */
  async admit(secret: string, calls: number): Promise<AdmittedKey | null> {
    const { fleet } = this.#ports.keys;
    const digest = keyDigest(secret);
    const visitor = isVisitorToken(secret) ? await this.#admitAt({ name: fleet.visitor(digest), field: '' }, calls) : null;
    return visitor ?? (await this.#admitAt({ name: fleet.apiKeys, field: digest }, calls));
  }

  async #admitAt(place: Place, calls: number): Promise<AdmittedKey | null> {
    const name = `${place.name} ${place.field}`;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const reply = await this.#request(place, this.#known.get(name), calls);
      if (reply === null) return null;
      const [stored, counted, leftMs = 0] = reply;
      const { key } = this.#learn(name, stored);
      if (counted !== undefined) return { key, counted, calls, leftMs };
    }
    throw new Error('An API key changed while it was read');
  }

  async #request(place: Place, known: Known | undefined, calls: number): Promise<AdmitReply> {
    const { redis, keys } = this.#ports;
    const { counter, key } = known ?? { counter: keys.fleet.http, key: { id: '' } };
    const places = [place.name, keys.shard(0).tenantStates, counter];
    return await runTenantScript<AdmitReply>(redis, 'admit-key', places, [place.field, key.id, calls, this.#options.windowS]);
  }

  #learn(name: string, stored: string): Known {
    const before = this.#known.get(name);
    if (before?.stored === stored) return before;
    const key = readRecord('of an API key', stored, readKey);
    const known = { stored, key, counter: this.#options.counterOf(key) };
    this.#known.set(name, known);
    return known;
  }
}
