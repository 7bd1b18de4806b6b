import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadScripts, type RedisClient, runScript, type Script, type Keys } from '../redis/index.ts';
import { MusterError } from '../errors/index.ts';
import { publicTenantId } from './tenant.ts';

type ScriptName =
  | 'admit-key'
  | 'create-tenant'
  | 'end-tenant'
  | 'find-key'
  | 'find-person'
  | 'save-tenant'
  | 'set-state'
  | 'write-of-tenant';

const FOLDER = new URL('scripts', import.meta.url);
const SCRIPTS = loadScripts(fileURLToPath(FOLDER));

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runTenantScript<Reply>(
  redis: RedisClient,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runScript(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}

/** What every script that accepts or makes something includes as `tenant-state`. */
export function tenantStateInLua(): string {
  return readFileSync(new URL('scripts/include/tenant-state.lua', import.meta.url), 'utf8');
}

interface WritePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

interface TenantWrite {
  tenant: string;
  /** What is written: one of the tenant's own keys, or one of the fleet's. */
  key: string;
  /** Command and arguments, without the key. */
  command: readonly [name: string, ...args: (string | number)[]];
  /** How long the key is kept after this, ms; by default what it was. */
  keepMs?: number;
}

/** The answer to a tenant's caller who comes after its end. */
export function tenantEnded(tenant: string): MusterError {
  return tenantClosed(tenant, 'ended');
}

/** The answer to what a tenant that is not active does not take in. */
export function tenantClosed(tenant: string, state: 'disabled' | 'ended'): MusterError {
  const name = publicTenantId(tenant);
  if (state === 'disabled') return new MusterError('tenant.disabled', `Tenant ${name} is disabled`);
  return new MusterError('tenant.ended', `Tenant ${name} was deleted`);
}

/** Writes a key under the tenant's own hash tag. Returns the command's reply. Errors: `tenant.ended`. */
export async function writeOfTenant({ redis, keys }: WritePorts, write: TenantWrite): Promise<unknown> {
  return await runWrite(redis, keys.shard(keys.shardOf(write.tenant)).tenantStates, write);
}

/** The same for what the fleet keeps for a tenant, on the first shard. Errors: `tenant.ended`. */
export async function writeOfFleet({ redis, keys }: WritePorts, write: TenantWrite): Promise<unknown> {
  return await runWrite(redis, keys.shard(0).tenantStates, write);
}

async function runWrite(redis: RedisClient, states: string, { tenant, key, command, keepMs }: TenantWrite): Promise<unknown> {
  const [kind, reply] = await runTenantScript<[string, unknown]>(
    redis,
    'write-of-tenant',
    [states, key],
    [tenant, keepMs ?? '', ...command],
  );
  if (kind === 'ended') throw tenantEnded(tenant);
  return reply ?? null;
}
