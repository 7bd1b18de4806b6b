import pMap from 'p-map';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { giveTasks, type Ledger, releaseObjects, writeParts } from '#shared/ledger/index.ts';
import { DATA_FORM, installationProblem } from '#shared/redis/index.ts';
import { DEFAULT_TENANT, publicTenantId, removeTenantData } from '#shared/tenants/index.ts';
import { readParts, verifyBackup } from './backup-file.ts';
import { BACKUP_FORM, type BackupRecord, type Manifest, type TaskRecord } from './backup-record.ts';
import { BackupSecrets } from './backup-secrets.ts';
import { writeValue } from './key-values.ts';
import { fleetPrefix, isOfSchedules, SHARD_SETS, tenantIds } from './logical-keys.ts';

export interface RestoreOptions {
  file: string;
  /** The name of the one tenant of the backup that is restored; absent for all that it has. */
  tenant?: string | undefined;
  passphrase: string | null;
  /** Whether what these tenants have there is removed first. */
  replaces?: boolean;
}

export interface RestoreResult {
  manifest: Manifest;
  tenants: string[];
  tasks: number;
  keys: number;
}

/**
 * What a restore does, in this order, each step of which does nothing the second time. Nothing that a process of the fleet works on is there before
 * `tasks`: all that tasks are made of, and what opens a tenant, comes first.
 */
const STEPS = ['room', 'parts', 'fleet', 'tasks', 'sets'] as const;
type Step = (typeof STEPS)[number];
const markSchema = z.object({ backup: z.string(), step: z.enum(STEPS), tenants: z.array(z.string()), replaces: z.boolean() });
type Mark = z.infer<typeof markSchema>;

const CONCURRENCY = 20;
/** Tasks of a part that are given at once: Redis answers nobody else meanwhile. */
const TOGETHER = 100;
/** Instead of a tenant. */
const ALL = '*';

/**
 * Restores a backup, or goes on with a restore whose process died. The file is checked as a whole before anything is written.
 * Errors: `backup.damaged`, `backup.refused`, `tenant.not-found`.
 */
export async function restoreBackup(ledger: Ledger, options: RestoreOptions): Promise<RestoreResult> {
  const { first: manifest } = await verifyBackup(options.file);
  if (manifest.t !== 'manifest' || manifest.form !== BACKUP_FORM || manifest.dataForm !== DATA_FORM)
    throw new MusterError('backup.refused', 'The backup is of another release, which has to restore it');
  const secrets = BackupSecrets.forRestore(ledger.seal, options.passphrase, manifest);
  const tenants = chosen(manifest, options.tenant);
  const restore = new Restore(ledger, { file: options.file, manifest, tenants, secrets });
  await restore.begin(options.replaces === true);
  return await restore.run();
}

/**
 * Removes what a restore left that did not come to its end. Returns the tenants that were emptied; null when there is none.
 */
export async function wipeRestore({ redis, keys }: Ledger): Promise<string[] | null> {
  const marks = Object.entries(await redis.hgetall(keys.fleet.restores));
  if (marks.length === 0) return null;
  const emptied: string[] = [];
  for (const [place, text] of marks) {
    for (const tenant of markSchema.parse(JSON.parse(text)).tenants) {
      await emptyTenant({ redis, keys }, tenant);
      emptied.push(tenant);
    }
    await redis.hdel(keys.fleet.restores, place);
  }
  return emptied;
}

async function emptyTenant({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string): Promise<void> {
  if (tenant !== DEFAULT_TENANT) await redis.hdel(keys.fleet.tenants, publicTenantId(tenant));
  await releaseObjects({ redis, keys }, tenant);
  await removeTenantData({ redis, keys }, tenant);
}

function chosen({ tenants }: Manifest, name: string | undefined): string[] {
  if (name === undefined) return tenants;
  const id = tenants.find((each) => publicTenantId(each) === name);
  if (id === undefined) throw new MusterError('tenant.not-found', `The backup has no tenant "${name}"`);
  return [id];
}

interface RestoreParts {
  file: string;
  manifest: Manifest;
  tenants: string[];
  secrets: BackupSecrets;
}

/** Restore is responsible for the steps of one restore, and for the mark that says how far it is. */
class Restore {
  readonly #ledger: Ledger;
  readonly #parts: RestoreParts;
  readonly #ids: ReadonlySet<string>;
  #step: Step = 'room';
  #replaces = false;
  #tasks = 0;
  #keys = 0;

  constructor(ledger: Ledger, parts: RestoreParts) {
    this.#ledger = ledger;
    this.#parts = parts;
    this.#ids = new Set(parts.tenants);
  }

  get #place(): string {
    const { manifest, tenants } = this.#parts;
    return manifest.isOfFleet && tenants.length === manifest.tenants.length ? ALL : (tenants[0] ?? ALL);
  }

  /** Finds how far it was, or that there is room for it. Errors: `backup.refused`. */
  async begin(replaces: boolean): Promise<void> {
    const { redis, keys } = this.#ledger;
    const { manifest } = this.#parts;
    const problem = await installationProblem({ redis, keys });
    if (problem !== null) throw new MusterError('backup.refused', problem);
    await redis.set(keys.fleet.installation, `${DATA_FORM} ${keys.shards}`, 'NX');
    const stored = await redis.hget(keys.fleet.restores, this.#place);
    const mark = stored === null ? null : markSchema.parse(JSON.parse(stored));
    if (mark !== null && mark.backup !== manifest.id)
      throw new MusterError(
        'backup.refused',
        'A restore of another backup is half done there: go on with that one, or remove it by --wipe',
      );
    this.#replaces = mark?.replaces ?? replaces;
    this.#step = mark?.step ?? 'room';
    if (mark === null) await this.#assertRoom(replaces);
  }

  async run(): Promise<RestoreResult> {
    const { manifest, tenants } = this.#parts;
    const runs: Record<Step, () => Promise<void>> = {
      room: async () => await this.#makeRoom(),
      parts: async () => await this.#each((records) => this.#writeParts(records)),
      fleet: async () => await this.#each((records) => this.#writeFleet(records)),
      tasks: async () => await this.#each((records) => this.#giveTasks(records)),
      sets: async () => await this.#each((records) => this.#writeSets(records)),
    };
    for (const step of STEPS.slice(STEPS.indexOf(this.#step))) {
      await this.#mark(step);
      await runs[step]();
    }
    await this.#ledger.redis.hdel(this.#ledger.keys.fleet.restores, this.#place);
    return { manifest, tenants, tasks: this.#tasks, keys: this.#keys };
  }

  async #mark(step: Step): Promise<void> {
    const { backup, tenants } = { backup: this.#parts.manifest.id, tenants: this.#parts.tenants };
    const mark: Mark = { backup, step, tenants, replaces: this.#replaces };
    await this.#ledger.redis.hset(this.#ledger.keys.fleet.restores, this.#place, JSON.stringify(mark));
  }

  /** Begun with the mark set, so that a process that dies here does not leave half of what was there to be merged with the backup. */
  async #makeRoom(): Promise<void> {
    if (!this.#replaces) return;
    for (const tenant of this.#parts.tenants) await emptyTenant(this.#ledger, tenant);
  }

  /** A fleet that runs and has done nothing yet has room. Errors: `backup.refused`. */
  async #assertRoom(replaces: boolean): Promise<void> {
    const { redis, keys } = this.#ledger;
    const known = new Set(await tenantIds(redis, keys));
    for (const tenant of this.#parts.tenants) {
      const name = publicTenantId(tenant);
      if ((await redis.hget(keys.shard(0).tenantStates, tenant)) === 'ended')
        throw new MusterError(
          'backup.refused',
          `A tenant "${name}" was deleted there, and its end is remembered for tenants.endedRetentionMs`,
        );
      const isOther = [...known].some((each) => publicTenantId(each) === name && each !== tenant);
      const isUsed = tenant === DEFAULT_TENANT ? await this.#hasData(tenant) : known.has(tenant);
      if (isOther || (isUsed && !replaces))
        throw new MusterError(
          'backup.refused',
          `The fleet has a tenant "${name}" with data already: --replace removes what it has there first`,
        );
    }
    const others = [...known].filter((each) => each !== DEFAULT_TENANT && !this.#ids.has(each));
    if (this.#place === ALL && others.length > 0 && !replaces)
      throw new MusterError(
        'backup.refused',
        `The fleet has tenants of its own (${others.slice(0, 5).map(publicTenantId).join(', ')}): restore one by --tenant`,
      );
  }

  async #hasData(tenant: string): Promise<boolean> {
    const own = this.#ledger.keys.tenant(tenant);
    return (await this.#ledger.redis.exists(own.bodies, own.schedules, own.hooks, own.agents, own.budgets, own.sessionRecords)) > 0;
  }

  async #each(handle: (records: BackupRecord[]) => Promise<void>): Promise<void> {
    for await (const { records } of readParts(this.#parts.file)) await handle(records);
  }

  #tasksOf(records: readonly BackupRecord[]): TaskRecord[] {
    return records.filter((record): record is TaskRecord => record.t === 'task' && this.#ids.has(record.tenant));
  }

  async #writeParts(records: BackupRecord[]): Promise<void> {
    await pMap(this.#tasksOf(records), (task) => writeParts(this.#ledger, task.tenant, task), { concurrency: CONCURRENCY });
    for (const record of records) if (record.t === 'key' && !isOfSchedules(record.name)) await this.#writeKey(record);
  }

  async #writeKey(record: BackupRecord & { t: 'key' }): Promise<void> {
    const { tenant, name, items } = record;
    if (!this.#ids.has(tenant)) return;
    const { redis, keys } = this.#ledger;
    const opened = items.map(([field, text]): [string, string] => [field, this.#parts.secrets.fromBackup({ tenant, name, field }, text)]);
    await writeValue(redis, `${keys.tenantPrefix(tenant)}${name}`, { ...record, items: opened }, Date.now());
    this.#keys += 1;
  }

  /** Keys of the fleet name the tenant in what they have: of a backup of all, one tenant takes its own. */
  async #writeFleet(records: BackupRecord[]): Promise<void> {
    const { redis, keys } = this.#ledger;
    for (const record of records) {
      if (record.t !== 'fleet') continue;
      const items =
        this.#place === ALL ? record.items : record.items.filter(([field, value]) => this.#isOfTenant(record.name, field, value));
      await writeValue(redis, `${fleetPrefix(keys)}${record.name}`, { ...record, items }, Date.now());
      this.#keys += items.length > 0 ? 1 : 0;
    }
  }

  #isOfTenant(name: string, field: string, value: string): boolean {
    const words = [...this.#ids];
    return words.some(
      (id) =>
        name.endsWith(`:${id}`) ||
        value === id ||
        value.startsWith(`${id}/`) ||
        field.endsWith(`/${id}`) ||
        value.includes(`"tenant":"${id}"`) ||
        (name === 'tenants' && value.includes(`"id":"${id}"`)),
    );
  }

  async #giveTasks(records: BackupRecord[]): Promise<void> {
    const byTenant = Map.groupBy(this.#tasksOf(records), ({ tenant }) => tenant);
    for (const [tenant, tasks] of byTenant) {
      for (let from = 0; from < tasks.length; from += TOGETHER) {
        this.#tasks += await giveTasks(this.#ledger, tenant, tasks.slice(from, from + TOGETHER));
      }
    }
  }

  /** Last, because processes act on what they find there. A delivery that is on its way is looked at in any case. */
  async #writeSets(records: BackupRecord[]): Promise<void> {
    const { redis, keys } = this.#ledger;
    const now = Date.now();
    for (const record of records) {
      if (record.t === 'key' && isOfSchedules(record.name)) await this.#writeKey(record);
      if (record.t === 'key') await this.#expectDelivery(record);
      if (record.t !== 'set' || !this.#ids.has(record.tenant)) continue;
      const shard = keys.shard(keys.shardOf(record.tenant));
      const known = SHARD_SETS.find(({ name }) => name === record.name);
      if (known === undefined) continue;
      const type = known.name === 'agentCaps' || known.name === 'budgetVersions' ? 'hash' : 'zset';
      await writeValue(redis, shard[known.name], { type, items: record.items, expiresAt: null }, now);
    }
  }

  async #expectDelivery({ tenant, name, items }: BackupRecord & { t: 'key' }): Promise<void> {
    const [id] = /(?<=^delivery:).+$/.exec(name) ?? [];
    if (id === undefined || !this.#ids.has(tenant) || items[0]?.[1].includes('"status":"pending"') !== true) return;
    const { redis, keys } = this.#ledger;
    await redis.zadd(keys.shard(keys.shardOf(tenant)).deliveriesDue, 'NX', Date.now(), `${tenant}/${id}`);
  }
}
