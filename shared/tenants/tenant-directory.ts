import type { Settings, TenantLimits } from '../config/settings.ts';
import type { Log } from '../log/create-log.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keys } from '../redis/keys.ts';
import { DEFAULT_TENANT, tenantSchema, type Tenant } from './tenant.ts';

export interface TenantDirectoryOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  log: Log;
}

const DEFAULT: Tenant = { id: DEFAULT_TENANT, name: 'Default', disabled: false, limits: null, createdAt: 0 };

/** How old what a process knows of the tenants may be. */
const REFRESH_MS = 2000;

/**
 * TenantDirectory is responsible for knowing every tenant and its limits without a round trip, so that accepting a task
 * stays one script. It reads the tenants when it starts and every two seconds.
 */
export class TenantDirectory {
  readonly #options: TenantDirectoryOptions;
  #tenants = new Map<string, Tenant>([[DEFAULT_TENANT, DEFAULT]]);
  /** Tenants whose record cannot be read, each reported once. */
  readonly #unreadable = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TenantDirectoryOptions) {
    this.#options = options;
  }

  /** Resolves when the tenants were read. When that fails it rejects, and goes on trying all the same. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#tick(), REFRESH_MS).unref();
    await this.refresh();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get(id: string): Tenant | null {
    return this.#tenants.get(id) ?? null;
  }

  list(): Tenant[] {
    return [...this.#tenants.values()].toSorted((a, b) => a.id.localeCompare(b.id));
  }

  /** A tenant's limits: its own, the configuration's for it, else the configuration's for all. Null is no limit. */
  limitsOf(id: string): TenantLimits | null {
    const { limits } = this.#options.settings;
    const own = this.#tenants.get(id)?.limits;
    if (own) return own;
    // A tenant may have any name, also that of something that every object inherits.
    if (Object.hasOwn(limits.tenants, id)) return limits.tenants[id] ?? limits.tenant;
    return id === DEFAULT_TENANT ? null : limits.tenant;
  }

  async save(tenant: Tenant): Promise<void> {
    const { redis, keys } = this.#options;
    await redis.hset(keys.fleet.tenants, tenant.id, JSON.stringify(tenant));
    this.#tenants.set(tenant.id, tenant);
  }

  async remove(id: string): Promise<void> {
    const { redis, keys } = this.#options;
    await redis.hdel(keys.fleet.tenants, id);
    this.#tenants.delete(id);
  }

  async refresh(): Promise<void> {
    const { redis, keys } = this.#options;
    const stored = await redis.hgetall(keys.fleet.tenants);
    const tenants = new Map([[DEFAULT_TENANT, DEFAULT]]);
    for (const [id, json] of Object.entries(stored)) {
      const tenant = this.#read(id, json);
      if (tenant) tenants.set(id, tenant);
    }
    this.#tenants = tenants;
  }

  /** One bad record must not hide the others. What was known of its tenant stays. */
  #read(id: string, json: string): Tenant | null {
    try {
      return tenantSchema.parse(JSON.parse(json));
    } catch (error) {
      if (!this.#unreadable.has(id)) this.#options.log.error({ err: error, tenant: id }, 'the record of a tenant cannot be read');
      this.#unreadable.add(id);
      return this.get(id);
    }
  }

  async #tick(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'the tenants could not be read; the last known ones stay');
    }
  }
}
