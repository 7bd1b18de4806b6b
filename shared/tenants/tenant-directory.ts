import { MusterError } from '../errors/index.ts';
import type { Settings, TenantLimits } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { type Keys, reasonOf, type RedisClient, type UnreadableRecord } from '../redis/index.ts';
import { Ticker, wait } from '../time/index.ts';
import { CHANGES_KNOWN_MS, RecordChanges } from './record-changes.ts';
import { ANY_RECORD, insertTenant, removeTenant, repairStates, replaceTenant } from './tenant-records.ts';
import { DEFAULT_TENANT, publicTenantId, tenantSchema, type Tenant } from './tenant.ts';

export interface TenantDirectoryOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  log: Log;
  /** Shared by what a process knows of; its own by default. */
  readonly changes?: RecordChanges;
}

const DEFAULT: Tenant = { id: DEFAULT_TENANT, name: 'Default', disabled: false, limits: null, createdAt: 0 };

/** Reads in a row that a write of this process may outdate before the next round is waited for. */
const READ_TRIES = 5;
/** About two seconds in all. Of several that try at the same time one succeeds each time. */
const CHANGE_TRIES = 50;
const MAX_PAUSE_MS = 100;

/**
 * TenantDirectory is responsible for knowing every tenant and its limits without a round trip, so that accepting a task
 * stays one script. It reads the tenants when it starts, and within two seconds when they have changed.
 */
export class TenantDirectory {
  readonly #options: TenantDirectoryOptions;
  #tenants = new Map<string, Tenant>([[DEFAULT_TENANT, DEFAULT]]);
  /** Tenants whose record could not be read the last time, by name; each is reported once. */
  #unreadable = new Map<string, UnreadableRecord>();
  readonly #ticker: Ticker;
  /** How many tenants this process wrote, how often it read them all, and the read whose answer it has. */
  #writes = 0;
  #reads = 0;
  #applied = 0;

  constructor(options: TenantDirectoryOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: CHANGES_KNOWN_MS,
      isBackground: true,
      run: (options.changes ?? new RecordChanges(options)).caller(() => this.refresh()),
      onError: (error) => options.log.debug({ err: error }, 'the tenants could not be read; the last known ones stay'),
    });
  }

  /** Resolves when the tenants were read. When that fails it rejects, and keeps trying. */
  async start(): Promise<void> {
    this.#ticker.start();
    await this.refresh();
  }

  stop(): void {
    void this.#ticker.stop();
  }

  get(id: string): Tenant | null {
    return this.#tenants.get(id) ?? null;
  }

  list(): Tenant[] {
    return [...this.#tenants.values()].toSorted((a, b) => a.id.localeCompare(b.id));
  }

  /** Tenants whose record could not be read the last time. */
  get unreadable(): readonly UnreadableRecord[] {
    return [...this.#unreadable.values()];
  }

  /** Whether there are other tenants than `default`, or were until lately, as Redis has it now. */
  async hasOthers(): Promise<boolean> {
    const { redis, keys } = this.#options;
    const [names, ended] = await Promise.all([redis.hkeys(keys.fleet.tenants), redis.zcard(keys.fleet.endedTenants)]);
    return ended > 0 || names.some((name) => name !== DEFAULT_TENANT);
  }

  /** A tenant's limits: its own, the configuration's for it, else the configuration's for all. Null is no limit. */
  limitsOf(id: string): TenantLimits | null {
    const { limits } = this.#options.settings;
    const own = this.#tenants.get(id)?.limits;
    if (own) return own;
    const name = publicTenantId(id);
    // A tenant may have any name, also that of something that every object inherits.
    if (Object.hasOwn(limits.tenants, name)) return limits.tenants[name] ?? limits.tenant;
    return id === DEFAULT_TENANT ? null : limits.tenant;
  }

  /** The tenant that has this name now. */
  find(name: string): Tenant | null {
    for (const tenant of this.#tenants.values()) if (publicTenantId(tenant.id) === name) return tenant;
    return null;
  }

  /** Makes a tenant. Returns null when its name is taken, and `full` when the fleet has all the tenants it may have. */
  async create(name: string, draft: Omit<Tenant, 'id'>): Promise<Tenant | 'full' | null> {
    if (name === DEFAULT_TENANT) return null;
    const tenant = await insertTenant(this.#options, name, { draft, maxTenants: this.#options.settings.limits.maxTenants });
    if (tenant === null || tenant === 'full') return tenant;
    if (tenant.disabled) await this.save(tenant);
    this.#know(tenant);
    return tenant;
  }

  /** Writes a tenant's record; from then on every script reads its state. Errors: `tenant.ended`. */
  async save(tenant: Tenant): Promise<void> {
    await this.#write(tenant, ANY_RECORD);
  }

  /**
   * Changes a tenant, whatever others do to it at the same time: what `change` is given is what it replaces. Errors: `tenant.ended`,
   * `tenant.busy`, and what `change` throws.
   */
  async change(known: Tenant, change: (tenant: Tenant) => Tenant): Promise<Tenant> {
    const { redis, keys } = this.#options;
    for (let attempt = 0; attempt < CHANGE_TRIES; attempt += 1) {
      const seen = await redis.hget(keys.fleet.tenants, publicTenantId(known.id));
      const changed = change((seen === null ? null : this.#read(known.id, seen, new Map())) ?? known);
      if (await this.#write({ ...changed, id: known.id }, seen ?? '')) return changed;
      // A random pause, so that the losers do not collide again at once.
      await wait(Math.random() * Math.min(5 * attempt, MAX_PAUSE_MS));
    }
    throw new MusterError('tenant.busy', 'Too many change this tenant at the same time; try again');
  }

  /** Returns false when the record is another one than was read. */
  async #write(tenant: Tenant, read: string): Promise<boolean> {
    if (!(await replaceTenant(this.#options, tenant, read))) return false;
    this.#know(tenant);
    return true;
  }

  /** Ends a tenant, and frees its name. Returns false when it had ended already. What it owned is still there. */
  async end({ id }: Tenant, now: number): Promise<boolean> {
    const hasEnded = await removeTenant(this.#options, id, now);
    this.#writes += 1;
    this.#tenants.delete(id);
    return hasEnded;
  }

  /** Writes the state beside each tenant's keys where it is missing there. */
  async repairStates(): Promise<void> {
    await this.refresh();
    await repairStates(this.#options, this.list());
  }

  #know(tenant: Tenant): void {
    this.#writes += 1;
    this.#tenants.set(tenant.id, tenant);
  }

  /** Reads all tenants. What this process wrote meanwhile, or what a later call read, is newer and stays. */
  async refresh(): Promise<void> {
    for (let attempt = 0; attempt < READ_TRIES; attempt += 1) {
      const [writes, read] = [this.#writes, (this.#reads += 1)];
      const stored = await this.#options.redis.hgetall(this.#options.keys.fleet.tenants);
      if (read < this.#applied) return;
      if (writes === this.#writes) return this.#apply(stored, read);
    }
  }

  #apply(stored: Record<string, string>, read: number): void {
    this.#applied = read;
    const tenants = new Map([[DEFAULT_TENANT, DEFAULT]]);
    const unreadable = new Map<string, UnreadableRecord>();
    for (const [name, json] of Object.entries(stored)) {
      const tenant = this.#read(name, json, unreadable);
      // By its id, which is not its name where the name was used before.
      if (tenant) tenants.set(tenant.id, tenant);
    }
    this.#unreadable = unreadable;
    this.#tenants = tenants;
  }

  /** One bad record must not hide the others. What was known of its tenant stays. */
  #read(id: string, json: string, unreadable: Map<string, UnreadableRecord>): Tenant | null {
    try {
      return tenantSchema.parse(JSON.parse(json));
    } catch (error) {
      if (!this.#unreadable.has(id)) this.#options.log.error({ err: error, tenant: id }, 'the record of a tenant cannot be read');
      unreadable.set(id, { id, reason: reasonOf(error) });
      return this.find(id);
    }
  }
}
