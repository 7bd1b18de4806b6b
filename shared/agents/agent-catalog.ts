import { type AgentDefinition, type ApiAgentDefinition, apiAgentDefinitionSchema, type Settings } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import { type Keys, readRecord, readRecords, type ReadRecords, type RedisClient } from '../redis/index.ts';
import { measureKey } from '../ledger/index.ts';
import { openRecord, type Seal } from '../tenants/index.ts';
import { wait } from '../time/index.ts';
import { type AgentCaps, ANY_FORMER, NO_FORMER } from './agent-caps.ts';

export interface AgentCatalogOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  seal: Seal;
  caps: AgentCaps;
}

export interface CatalogEntry {
  id: string;
  /** `config`: from the operator's configuration; `api`: made by the tenant. */
  origin: 'config' | 'api';
  definition: AgentDefinition;
}

/** How often a change is tried again when others change the agent meanwhile. */
const MAX_TRIES = 20;
const MAX_PAUSE_MS = 100;

/** Which agents a tenant has: the configuration's, which all tenants share, and its own. */
export class AgentCatalog {
  readonly #options: AgentCatalogOptions;

  constructor(options: AgentCatalogOptions) {
    this.#options = options;
  }

  /** The agent of this name, or null. The configuration's need no round trip. Errors: `record.unreadable`, `seal.key-lost`. */
  async find(tenant: string, id: string): Promise<CatalogEntry | null> {
    const configured = this.configured(id);
    if (configured) return configured;
    const stored = await this.#options.redis.hget(this.#key(tenant), id);
    return stored === null ? null : { id, origin: 'api', definition: readRecord(id, stored, (json) => this.#read(tenant, id, json)) };
  }

  /** Every agent the tenant may name, by name. */
  async list(tenant: string): Promise<ReadRecords<CatalogEntry>> {
    const stored = await this.#options.redis.hgetall(this.#key(tenant));
    const { items, unreadable } = readRecords(Object.entries(stored), (json, id): CatalogEntry => ({
      id,
      origin: 'api',
      definition: this.#read(tenant, id, json),
    }));
    const configured = Object.keys(this.#options.settings.agents).flatMap((id) => this.configured(id) ?? []);
    return { items: [...configured, ...items].toSorted((a, b) => a.id.localeCompare(b.id)), unreadable };
  }

  /**
   * Makes or replaces a tenant's own agent; `onlyNew` replaces none. Returns whether it is new. Errors: `agent.exists`,
   * `agent.operator-only`, `request.invalid`, `limit.storage`, `tenant.ended`.
   */
  async put(tenant: string, id: string, definition: ApiAgentDefinition, { onlyNew = false } = {}): Promise<boolean> {
    this.#refuseConfigured(id);
    await this.#assertRoom(tenant);
    const { redis, settings, caps } = this.#options;
    const { maxAgentsPerTenant } = settings.limits;
    const written = await caps.write(tenant, id, definition, onlyNew ? NO_FORMER : ANY_FORMER);
    if (written === 'changed') throw new MusterError('agent.exists', `There is an agent "${id}" already`, { details: { agent: id } });
    const isNew = written === 'made';
    // Counted afterwards, so that callers at the same time cannot all take the last place.
    if (!isNew || (await redis.hlen(this.#key(tenant))) <= maxAgentsPerTenant) return isNew;
    await caps.remove(tenant, id);
    throw new MusterError('request.invalid', `A tenant has at most ${maxAgentsPerTenant} agents of its own`, {
      details: { maxAgentsPerTenant },
    });
  }

  /**
   * Changes a tenant's own agent by compare and set: `change` gets the definition that its result replaces. Null when there is none.
   * Errors: `agent.busy`, `agent.operator-only`, `limit.storage`, `record.unreadable`, `seal.key-lost`, `tenant.ended`, and what `change` throws.
   */
  async change(tenant: string, id: string, change: (before: ApiAgentDefinition) => ApiAgentDefinition): Promise<ApiAgentDefinition | null> {
    this.#refuseConfigured(id);
    await this.#assertRoom(tenant);
    const { redis, caps } = this.#options;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await redis.hget(this.#key(tenant), id);
      if (stored === null) return null;
      const changed = change(readRecord(id, stored, (json) => this.#read(tenant, id, json)));
      if ((await caps.write(tenant, id, changed, stored)) !== 'changed') return changed;
      // Losers of a race wait for different times.
      await wait(Math.random() * Math.min(5 * tries, MAX_PAUSE_MS));
    }
    throw new MusterError('agent.busy', 'Others change this agent at the same time', { details: { agent: id } });
  }

  /** Removes a tenant's own agent. Errors: `agent.operator-only`. Returns whether there was one. */
  async remove(tenant: string, id: string): Promise<boolean> {
    this.#refuseConfigured(id);
    return await this.#options.caps.remove(tenant, id);
  }

  /** The agent of this name in the configuration, which all tenants share, or null. */
  configured(id: string): CatalogEntry | null {
    const { agents } = this.#options.settings;
    const definition = Object.hasOwn(agents, id) ? agents[id] : undefined;
    return definition ? { id, origin: 'config', definition } : null;
  }

  async #assertRoom(tenant: string): Promise<void> {
    const { redis, settings } = this.#options;
    const { maxAgentBytesPerTenant } = settings.limits;
    if ((await measureKey(redis, this.#key(tenant))) < maxAgentBytesPerTenant) return;
    throw new MusterError('limit.storage', `The agents of a tenant take at most ${maxAgentBytesPerTenant} bytes`, {
      details: { maxAgentBytesPerTenant },
    });
  }

  #refuseConfigured(id: string): void {
    if (this.configured(id))
      throw new MusterError('agent.operator-only', `The agent "${id}" comes from the configuration and is changed there`);
  }

  #key(tenant: string): string {
    return this.#options.keys.tenant(tenant).agents;
  }

  #read(tenant: string, id: string, json: string): ApiAgentDefinition {
    return apiAgentDefinitionSchema.parse(openRecord(this.#options.seal, { kind: 'agents', tenant, id }, json));
  }
}
