import { type Keys, type RedisClient } from '../redis/index.ts';
import { countChange } from './record-changes.ts';
import { runTenantScript, tenantEnded } from './write-of-tenant.ts';
import { generationOf, publicTenantId, type Tenant } from './tenant.ts';

interface RecordPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** Instead of a record that was read: whatever the record is now. */
export const ANY_RECORD = '*';

/** Inserts a tenant. Returns null when its name is taken, and `full` when the fleet has `maxTenants` already. */
export async function insertTenant(
  ports: RecordPorts,
  name: string,
  { draft, maxTenants }: { draft: Omit<Tenant, 'id'>; maxTenants: number },
): Promise<Tenant | 'full' | null> {
  const { redis, keys } = ports;
  const { tenants, tenantGenerations } = keys.fleet;
  const [kind, id = ''] = await runTenantScript<[kind: 'created' | 'exists' | 'full', id?: string]>(
    redis,
    'create-tenant',
    [tenants, tenantGenerations],
    [name, JSON.stringify(draft), maxTenants],
  );
  if (kind !== 'created') return kind === 'full' ? kind : null;
  await countChange(ports);
  return { id, ...draft };
}

/**
 * Writes a tenant's record and its state, unless the record is another one than was read: then returns false.
 * Errors: `tenant.ended`.
 */
export async function replaceTenant(ports: RecordPorts, tenant: Tenant, read: string): Promise<boolean> {
  const { redis, keys } = ports;
  const state = stateOf(tenant);
  const written = await runTenantScript<number>(
    redis,
    'save-tenant',
    [keys.fleet.tenants, keys.shard(0).tenantStates],
    [publicTenantId(tenant.id), tenant.id, JSON.stringify(tenant), state, read],
  );
  if (written === 0) throw tenantEnded(tenant.id);
  if (written === 2) return false;
  await writeState(ports, tenant.id, state);
  await countChange(ports);
  return true;
}

/** Ends a tenant, and frees its name. Returns false when it had ended already. What it owned is still there. */
export async function removeTenant(ports: RecordPorts, id: string, now: number): Promise<boolean> {
  const { redis, keys } = ports;
  const { tenants, endedTenants, tenantsToClean, tenantGenerations } = keys.fleet;
  const ended = await runTenantScript<number>(
    redis,
    'end-tenant',
    [tenants, keys.shard(0).tenantStates, endedTenants, tenantsToClean, tenantGenerations],
    [publicTenantId(id), id, generationOf(id), now],
  );
  await countChange(ports);
  return ended === 1;
}

/**
 * Writes the state beside each tenant's keys where it is missing. With shards, record and state are in two places, and a process may have
 * died between the two writes.
 */
export async function repairStates(ports: RecordPorts, all: readonly Tenant[]): Promise<void> {
  const { redis, keys } = ports;
  const indices = Array.from({ length: keys.shards }, (_, index) => index);
  const states = await Promise.all(indices.map((index) => redis.hgetall(keys.shard(index).tenantStates)));
  for (const tenant of all) {
    const wanted = stateOf(tenant);
    if ((states[keys.shardOf(tenant.id)]?.[tenant.id] ?? '') !== wanted) await writeState(ports, tenant.id, wanted);
  }
}

function stateOf({ disabled }: Tenant): 'disabled' | '' {
  return disabled ? 'disabled' : '';
}

async function writeState({ redis, keys }: RecordPorts, id: string, state: string): Promise<void> {
  await runTenantScript(redis, 'set-state', [keys.shard(keys.shardOf(id)).tenantStates], [id, state]);
}
