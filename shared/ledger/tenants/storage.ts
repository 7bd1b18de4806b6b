import { MusterError } from '../../errors/index.ts';
import { publicTenantId } from '../../tenants/index.ts';
import { LastKnown } from '../../time/index.ts';
import type { LedgerOptions } from '../ledger.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';

/** How old a measurement may be before another one is made. */
const MAX_AGE_MS = 5000;
const MAX_TENANTS = 10_000;
/** Room comes when ended tasks are forgotten. */
const RETRY_MS = 60_000;

/**
 * StoredBytes is responsible for refusing what a tenant wants kept beyond its limit. It knows what the tenant's keys took some seconds
 * ago, so that accepting a task sends Redis no other command.
 */
export class StoredBytes {
  readonly #options: Pick<LedgerOptions, 'redis' | 'keys' | 'limitsOf'>;
  readonly #bytes: LastKnown<string, number>;

  constructor(options: Pick<LedgerOptions, 'redis' | 'keys' | 'limitsOf'>) {
    this.#options = options;
    this.#bytes = new LastKnown({ read: (tenant) => measureTenant(options, tenant), freshMs: MAX_AGE_MS, maxEntries: MAX_TENANTS });
  }

  /** Errors: `limit.storage`. */
  assertRoom(tenant: string): void {
    const maxBytes = this.#options.limitsOf(tenant)?.storedBytes ?? null;
    if (maxBytes === null) return;
    const bytes = this.#bytes.get(tenant) ?? 0;
    if (bytes < maxBytes) return;
    throw new MusterError('limit.storage', `Tenant ${publicTenantId(tenant)} has ${bytes} bytes stored, of ${maxBytes} that it may have`, {
      details: { storedBytes: bytes, maxStoredBytes: maxBytes },
      retryAfterMs: RETRY_MS,
    });
  }
}

/** Elements that Redis samples to estimate the size of one key. */
const SAMPLES = 50;

/**
 * About how many bytes of Redis's memory a tenant's tasks, schedules, agents, hooks, deliveries and actions take. What expires within hours
 * (outputs that are read while they are written, idempotency keys) is not counted.
 */
export async function measureTenant({ redis, keys }: { redis: RedisClient; keys: Keys }, tenant: string): Promise<number> {
  const own = keys.tenant(tenant);
  const kept = [own.bodies, own.states, own.outputs, own.results, own.attempts, own.live, own.index, own.events];
  const made = [
    own.agents,
    own.hooks,
    own.schedules,
    own.scheduleNumbers,
    own.scheduleKeys,
    own.deliveries,
    own.callbackEndpoints,
    own.actions,
  ];
  const sizes = await Promise.all([...kept, ...made].map((key) => measureKey(redis, key)));
  return sizes.reduce((total, bytes) => total + bytes, 0);
}

/** About how many bytes of Redis's memory a key takes; 0 when there is none. */
export async function measureKey(redis: RedisClient, key: string): Promise<number> {
  return (await redis.memory('USAGE', key, 'SAMPLES', SAMPLES)) ?? 0;
}
