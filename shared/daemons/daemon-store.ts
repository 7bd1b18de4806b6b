import { MusterError } from '../errors/index.ts';
import { readRecord, readRecords, type ReadRecords } from '../redis/index.ts';
import { publicTenantId, tenantClosed } from '../tenants/index.ts';
import {
  type Daemon,
  type DaemonAddress,
  daemonSchema,
  newDaemonId,
  type Registration,
  type StoredDaemon,
  storedDaemonSchema,
} from './daemon.ts';
import { publishDaemonChange } from './daemon-signals.ts';
import { isDaemonToken, newDaemonToken, tokenDigest } from './daemon-tokens.ts';
import { type DaemonPorts, runDaemonScript } from './scripts.ts';

/** What is not named stays. */
type RegistrationPatch = { [Field in keyof Registration]?: Registration[Field] | undefined };

interface NewDaemon extends Registration {
  tenant: string;
}

/** A registration that is read, changed and written back may have been changed by others meanwhile. */
const MAX_TRIES = 20;

/** Registers a daemon, and makes its token, which cannot be read again. Errors: `daemon.name-taken`, `limit.daemons`, `tenant.ended`. */
export async function createDaemon(
  ports: DaemonPorts,
  { tenant, ...registration }: NewDaemon,
  maxPerTenant: number,
): Promise<{ daemon: Daemon; token: string }> {
  const token = newDaemonToken();
  const daemon: Daemon = { ...registration, id: newDaemonId(), tenant, tokenGeneration: 1, createdAt: Date.now() };
  await write(ports, daemon, { seen: '', stored: { ...daemon, tokenDigest: tokenDigest(token) }, max: maxPerTenant });
  return { daemon, token };
}

/** The daemon with this token; null when there is none, another was made since, or it or its tenant is disabled or gone. */
export async function findDaemonByToken(ports: DaemonPorts, token: string): Promise<Daemon | null> {
  if (!isDaemonToken(token)) return null;
  const digest = tokenDigest(token);
  const place = await ports.redis.hget(ports.keys.fleet.daemonTokens, digest);
  if (place === null) return null;
  const slash = place.indexOf('/');
  const [stored] = await readStored(ports, [{ tenant: place.slice(0, slash), id: place.slice(slash + 1) }]);
  return stored?.enabled === true && stored.tokenDigest === digest ? withoutDigest(stored) : null;
}

/** A tenant's daemon, by its id; null for none. Errors: `record.unreadable`. */
export async function readDaemon({ redis, keys }: DaemonPorts, { tenant, id }: DaemonAddress): Promise<Daemon | null> {
  const text = await redis.hget(keys.fleet.daemons(tenant), id);
  return text === null ? null : withoutDigest(readRecord(id, text, readStoredText));
}

/** Registrations as they hold now, in this order; null for one that is gone, and for those of tenants that are disabled or gone. */
export async function readDaemons(ports: DaemonPorts, addresses: readonly DaemonAddress[]): Promise<(Daemon | null)[]> {
  return (await readStored(ports, addresses)).map((stored) => stored && withoutDigest(stored));
}

/** A tenant's daemons, by name, with those that cannot be read. */
export async function listDaemonRecords({ redis, keys }: DaemonPorts, tenant: string): Promise<ReadRecords<Daemon>> {
  const { items, unreadable } = readRecords(Object.entries(await redis.hgetall(keys.fleet.daemons(tenant))), readStoredText);
  return { items: items.map(withoutDigest).toSorted((one, other) => one.name.localeCompare(other.name)), unreadable };
}

/** A tenant's daemons, by name. */
export async function listDaemons(ports: DaemonPorts, tenant: string): Promise<Daemon[]> {
  return (await listDaemonRecords(ports, tenant)).items;
}

/** Changes what a person decided of a daemon. Null when there is none. Errors: `daemon.name-taken`, `tenant.ended`. */
export async function changeDaemon(ports: DaemonPorts, address: DaemonAddress, change: RegistrationPatch): Promise<Daemon | null> {
  const named = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return await update(ports, address, (stored) => ({ ...stored, ...named }));
}

/** Gives a daemon another token; the former one opens nothing any more. Null when there is none. Errors: `tenant.ended`. */
export async function rotateDaemonToken(ports: DaemonPorts, address: DaemonAddress): Promise<{ daemon: Daemon; token: string } | null> {
  const token = newDaemonToken();
  const digest = tokenDigest(token);
  const daemon = await update(ports, address, (stored) => ({
    ...stored,
    tokenDigest: digest,
    tokenGeneration: stored.tokenGeneration + 1,
  }));
  return daemon && { daemon, token };
}

/** Removes a daemon, also an unreadable one. Returns whether there was one. */
export async function removeDaemon(ports: DaemonPorts, address: DaemonAddress): Promise<boolean> {
  const { redis, keys } = ports;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const seen = await redis.hget(keys.fleet.daemons(address.tenant), address.id);
    if (seen === null) return false;
    if (await write(ports, address, { seen, stored: null, max: 0 })) return true;
  }
  throw busy(address);
}

async function update(ports: DaemonPorts, address: DaemonAddress, change: (stored: StoredDaemon) => StoredDaemon): Promise<Daemon | null> {
  const { redis, keys } = ports;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const seen = await redis.hget(keys.fleet.daemons(address.tenant), address.id);
    if (seen === null) return null;
    const stored = change(readRecord(address.id, seen, readStoredText));
    if (await write(ports, address, { seen, stored, max: 0 })) return withoutDigest(stored);
  }
  throw busy(address);
}

interface Write {
  /** As it was read; empty for a new one. */
  seen: string;
  /** Null to remove it. */
  stored: StoredDaemon | null;
  max: number;
}

type Written = 'written' | 'changed' | 'name-taken' | 'full' | 'ended';

/** Returns false when the registration is another one than was read. */
async function write(ports: DaemonPorts, { tenant, id }: DaemonAddress, { seen, stored, max }: Write): Promise<boolean> {
  const { fleet } = ports.keys;
  const places = [
    ports.keys.shard(0).tenantStates,
    fleet.daemons(tenant),
    fleet.daemonNames(tenant),
    fleet.daemonTokens,
    fleet.daemonStates,
  ];
  const record = stored === null ? ['', '', ''] : [JSON.stringify(stored), stored.name, stored.tokenDigest];
  const written = await runDaemonScript<Written>(ports.redis, 'write-daemon', places, [tenant, id, seen, ...record, max]);
  if (written === 'ended') throw tenantClosed(tenant, written);
  if (written === 'name-taken')
    throw new MusterError('daemon.name-taken', `There is a daemon "${stored?.name}" already`, { details: { name: stored?.name } });
  if (written === 'full') {
    throw new MusterError('limit.daemons', `Tenant ${publicTenantId(tenant)} has ${max} daemons already`, { details: { max } });
  }
  if (written === 'changed') return false;
  if (seen !== '') await publishDaemonChange(ports, tenant, id);
  return true;
}

async function readStored({ redis, keys }: DaemonPorts, addresses: readonly DaemonAddress[]): Promise<(StoredDaemon | null)[]> {
  if (addresses.length === 0) return [];
  const tenants = [...new Set(addresses.map(({ tenant }) => tenant))];
  const pipeline = redis.pipeline().hmget(keys.shard(0).tenantStates, ...tenants);
  for (const { tenant, id } of addresses) pipeline.hget(keys.fleet.daemons(tenant), id);
  const [closed, ...texts] = repliesOf(await pipeline.exec());
  const states = new Map(tenants.map((tenant, position) => [tenant, Array.isArray(closed) ? closed[position] : null]));
  return addresses.map(({ tenant, id }, position) => {
    const text = texts[position];
    if (typeof text !== 'string' || states.get(tenant) !== null) return null;
    return readRecords([[id, text]], readStoredText).items[0] ?? null;
  });
}

function repliesOf(results: [error: Error | null, reply: unknown][] | null): unknown[] {
  return (results ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

function readStoredText(text: string): StoredDaemon {
  return storedDaemonSchema.parse(JSON.parse(text));
}

function withoutDigest(stored: StoredDaemon): Daemon {
  return daemonSchema.parse(stored);
}

function busy({ id }: DaemonAddress): MusterError {
  return new MusterError('daemon.busy', 'Others change this daemon at the same time', { details: { daemon: id } });
}
