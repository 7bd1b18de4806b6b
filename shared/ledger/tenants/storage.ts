import { MusterError } from '../../errors/index.ts';
import { publicTenantId } from '../../tenants/index.ts';
import { LastKnown } from '../../time/index.ts';
import { shardGroup } from '../context.ts';
import type { Ledger, LedgerOptions } from '../ledger.ts';
import type { RedisClient, TenantKeys } from '../../redis/index.ts';

/** How old a measurement may be before another one is made. */
const MAX_AGE_MS = 5000;
/** With thousands of tenants most do little, and a measurement costs more than a task. */
const SELDOM = { uses: 8, freshMs: 300_000 };
const MAX_TENANTS = 10_000;
/** Room comes when ended tasks are forgotten. */
const RETRY_MS = 60_000;

interface StoredBytesOptions extends Pick<LedgerOptions, 'limitsOf'> {
  /** About how many bytes a tenant has stored now. */
  measure: (tenant: string) => Promise<number>;
}

/**
 * StoredBytes is responsible for refusing what a tenant wants kept beyond its limit. It knows what the tenant's keys took some seconds
 * ago, so that accepting a task sends Redis no other command.
 */
export class StoredBytes {
  readonly #options: StoredBytesOptions;
  readonly #bytes: LastKnown<string, number>;

  constructor(options: StoredBytesOptions) {
    this.#options = options;
    this.#bytes = new LastKnown({ read: options.measure, freshMs: MAX_AGE_MS, seldom: SELDOM, maxEntries: MAX_TENANTS });
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
export async function measureTenant(ledger: Ledger, tenant: string): Promise<number> {
  return await ledger.batches.add({ ledger, run: measureTenants, group: shardGroup(ledger, tenant) }, tenant);
}

/** Measures tenants of one shard. */
async function measureTenants(ledger: Ledger, tenants: readonly string[]): Promise<number[]> {
  const keys = tenants.map((tenant) => measuredKeys(ledger.keys.tenant(tenant)));
  const sizes = ((await ledger.run('measure-keys', keys.flat(), [SAMPLES])) as number[]).values();
  return keys.map((own) => own.reduce((total) => total + (sizes.next().value ?? 0), 0));
}

function measuredKeys(own: TenantKeys): string[] {
  const kept = [own.bodies, own.states, own.outputs, own.results, own.attempts, own.live, own.index, own.events];
  const made = [own.agents, own.hooks, own.schedules, own.scheduleNumbers, own.scheduleKeys, own.deliveries];
  return [...kept, ...made, own.callbackEndpoints, own.actions];
}

/** About how many bytes of Redis's memory a key takes; 0 when there is none. */
export async function measureKey(redis: RedisClient, key: string): Promise<number> {
  return (await redis.memory('USAGE', key, 'SAMPLES', SAMPLES)) ?? 0;
}
