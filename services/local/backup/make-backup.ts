import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { MusterError } from '#shared/errors/index.ts';
import { copyTasks, type Ledger } from '#shared/ledger/index.ts';
import { DATA_FORM, type Keys, type RedisClient, scanHash, scanKeys, scanSortedSet } from '#shared/redis/index.ts';
import { DEFAULT_TENANT, publicTenantId, type Seal } from '#shared/tenants/index.ts';
import { BackupWriter, partialName, readParts } from './backup-file.ts';
import { BACKUP_FORM, type BackupRecord, type KeyValue, type Manifest, type Section } from './backup-record.ts';
import { BackupSecrets } from './backup-secrets.ts';
import { readValue } from './key-values.ts';
import { fleetParts, fleetPrefix, isOwnRecord, SHARD_SETS, tenantIds } from './logical-keys.ts';

export interface BackupPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly seal: Seal;
  /** Where the long parts of old tasks are, which are in a backup as those of others. */
  readonly archive?: Ledger['archive'];
}

export interface BackupOptions {
  file: string;
  /** The name of the one tenant; absent for all. */
  tenant?: string | undefined;
  passphrase: string | null;
}

export interface BackupResult {
  manifest: Manifest;
  counts: Record<string, number>;
  /** Tasks that a process before this one had written. */
  resumed: number;
}

/**
 * Writes a backup while the fleet runs, or goes on with one whose process died. Each task is whole, and so is each lane; what is accepted after the
 * start may be missing. Tasks come before what else there is, so that what they led to meanwhile is there as well.
 * Errors: `tenant.not-found`, `backup.refused` for a file of another backup.
 */
export async function makeBackup(ports: BackupPorts, options: BackupOptions): Promise<BackupResult> {
  const { file } = options;
  if (existsSync(file)) throw new MusterError('backup.refused', `There is a file ${file} already`);
  const begun = await readBegun(file);
  const secrets = BackupSecrets.forBackup(ports.seal, options.passphrase, begun.manifest?.salt ?? undefined);
  const manifest = begun.manifest ?? (await newManifest(ports, options, secrets));
  assertSame(manifest, await namesOf(ports, options), secrets);
  const writer = await BackupWriter.open(file, begun.parts);
  try {
    if (begun.manifest === null) await writer.add(manifest);
    const backup = new RunningBackup(ports, { writer, manifest, secrets, known: begun.known });
    const counts = await backup.run();
    await writer.finish(counts);
    return { manifest, counts, resumed: begun.tasks };
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  }
}

interface Begun {
  /** Null where there is none to go on with. */
  manifest: Manifest | null;
  parts: { end: number; sha256: string }[];
  /** Tasks that it has, by tenant. */
  known: Map<string, Set<string>>;
  tasks: number;
}

/** What is kept of a backup whose process died: its tasks. What follows them is short, and is read anew. */
async function readBegun(file: string): Promise<Begun> {
  const begun: Begun = { manifest: null, parts: [], known: new Map(), tasks: 0 };
  if (!existsSync(partialName(file))) return begun;
  for await (const { records, end, sha256 } of readParts(partialName(file), { isPartial: true })) {
    const [first] = records;
    if (first?.t === 'manifest') begun.manifest = first;
    if (begun.manifest === null || (first?.t === 'section' && first.section !== 'tasks')) break;
    for (const record of records) addKnown(begun, record);
    begun.parts.push({ end, sha256 });
  }
  return begun;
}

function addKnown(begun: Begun, record: BackupRecord): void {
  if (record.t !== 'task') return;
  const ids = begun.known.get(record.tenant) ?? new Set();
  begun.known.set(record.tenant, ids.add(record.id));
  begun.tasks += 1;
}

async function namesOf({ redis, keys }: BackupPorts, { tenant }: BackupOptions): Promise<string[]> {
  const ids = await tenantIds(redis, keys);
  if (tenant === undefined) return ids;
  const id = ids.find((each) => publicTenantId(each) === tenant);
  if (id === undefined) throw new MusterError('tenant.not-found', `There is no tenant "${tenant}"`);
  return [id];
}

async function newManifest(ports: BackupPorts, options: BackupOptions, { said }: BackupSecrets): Promise<Manifest> {
  return {
    t: 'manifest',
    form: BACKUP_FORM,
    dataForm: DATA_FORM,
    id: randomBytes(8).toString('hex'),
    at: new Date().toISOString(),
    tenants: await namesOf(ports, options),
    isOfFleet: options.tenant === undefined,
    ...said,
  };
}

/** Going on with a file means the same backup. Tenants that were made since it began are not in it. */
function assertSame({ tenants, isOfFleet, secrets }: Manifest, ids: readonly string[], given: BackupSecrets): void {
  const isSame = isOfFleet ? ids.includes(DEFAULT_TENANT) : tenants.length === 1 && ids.includes(tenants[0] ?? '');
  if (isSame && secrets === given.said.secrets) return;
  throw new MusterError(
    'backup.refused',
    'There is an unfinished backup of something else under this name: delete it, or choose another name',
  );
}

interface Running {
  writer: BackupWriter;
  manifest: Manifest;
  secrets: BackupSecrets;
  known: Map<string, Set<string>>;
}

/** RunningBackup is responsible for one pass through what the tenants have, in the order of the sections. */
class RunningBackup {
  readonly #ports: BackupPorts;
  readonly #running: Running;
  readonly #counts: Record<string, number> = { tasks: 0, keys: 0, entries: 0 };

  constructor(ports: BackupPorts, running: Running) {
    this.#ports = ports;
    this.#running = running;
    for (const ids of running.known.values()) this.#count('tasks', ids.size);
  }

  async run(): Promise<Record<string, number>> {
    const { manifest } = this.#running;
    await this.#begin('tasks');
    for (const tenant of manifest.tenants) await this.#addTasks(tenant);
    await this.#begin('sets');
    for (let shard = 0; shard < this.#ports.keys.shards; shard += 1) await this.#addSets(shard);
    await this.#begin('keys');
    for (const tenant of manifest.tenants) await this.#addKeys(tenant);
    await this.#begin('fleet');
    await this.#addFleet();
    return this.#counts;
  }

  #count(name: string, more: number): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + more;
  }

  /** A section begins with a part, so that a part is of one. */
  async #begin(section: Section): Promise<void> {
    const { writer } = this.#running;
    await writer.flush();
    await writer.add({ t: 'section', section });
  }

  async #addTasks(tenant: string): Promise<void> {
    const { writer, known } = this.#running;
    for await (const tasks of copyTasks(this.#ports, tenant, new Set(known.get(tenant)))) {
      for (const task of tasks) await writer.add({ t: 'task', tenant, ...task });
      this.#count('tasks', tasks.length);
    }
  }

  async #addSets(shard: number): Promise<void> {
    const { redis, keys } = this.#ports;
    for (const { name, at } of SHARD_SETS) {
      const key = keys.shard(shard)[name];
      const pages = (await redis.type(key)) === 'hash' ? scanHash(redis, key) : scanSortedSet(redis, key);
      for await (const page of pages)
        await this.#addEntries(
          name,
          Map.groupBy(page, ([member]) => member.split('/')[at] ?? ''),
        );
    }
  }

  async #addEntries(name: string, byTenant: ReadonlyMap<string, [string, string][]>): Promise<void> {
    const { manifest, writer } = this.#running;
    for (const [tenant, items] of byTenant) {
      if (!manifest.tenants.includes(tenant)) continue;
      await writer.add({ t: 'set', tenant, name, items });
      this.#count('entries', items.length);
    }
  }

  async #addKeys(tenant: string): Promise<void> {
    const { redis, keys } = this.#ports;
    const prefix = keys.tenantPrefix(tenant);
    for await (const page of scanKeys(redis, `${prefix}*`)) {
      for (const key of page) {
        const name = key.slice(prefix.length);
        if (!isOwnRecord(name)) continue;
        for await (const value of readValue(redis, key)) await this.#addKey(tenant, name, value);
        this.#count('keys', 1);
      }
    }
  }

  async #addKey(tenant: string, name: string, value: KeyValue): Promise<void> {
    const { writer, secrets } = this.#running;
    const items = value.items.map(([field, text]): [string, string] => [field, secrets.toBackup({ tenant, name, field }, text)]);
    await writer.add({ t: 'key', tenant, name, ...value, items });
  }

  async #addFleet(): Promise<void> {
    const { redis, keys } = this.#ports;
    const { manifest, writer } = this.#running;
    const prefix = fleetPrefix(keys);
    for (const { key, isWanted } of await fleetParts(redis, keys, new Set(manifest.tenants), manifest.isOfFleet)) {
      for await (const value of readValue(redis, key, isWanted)) await writer.add({ t: 'fleet', name: key.slice(prefix.length), ...value });
      this.#count('keys', 1);
    }
  }
}
