import { type AgentDefinition, type ApiAgentDefinition, apiAgentDefinitionSchema, type Settings } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import { type Keys, readRecord, readRecords, type ReadRecords, type RedisClient } from '../redis/index.ts';
import { measureKey } from '../ledger/index.ts';
import type { AgentCaps } from './agent-caps.ts';

export interface AgentCatalogOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  caps: AgentCaps;
}

export interface CatalogEntry {
  id: string;
  /** `config`: from the operator's configuration; `api`: made by the tenant. */
  origin: 'config' | 'api';
  definition: AgentDefinition;
}

/** Which agents a tenant has: the configuration's, which all tenants share, and its own. */
export class AgentCatalog {
  readonly #options: AgentCatalogOptions;

  constructor(options: AgentCatalogOptions) {
    this.#options = options;
  }

  /** The agent of this name, or null. The configuration's need no round trip. Errors: `record.unreadable`. */
  async find(tenant: string, id: string): Promise<CatalogEntry | null> {
    const configured = this.configured(id);
    if (configured) return configured;
    const stored = await this.#options.redis.hget(this.#key(tenant), id);
    return stored === null ? null : { id, origin: 'api', definition: readRecord(id, stored, readDefinition) };
  }

  /** Every agent the tenant may name, by name. */
  async list(tenant: string): Promise<ReadRecords<CatalogEntry>> {
    const stored = await this.#options.redis.hgetall(this.#key(tenant));
    const { items, unreadable } = readRecords(Object.entries(stored), (json, id): CatalogEntry => ({
      id,
      origin: 'api',
      definition: readDefinition(json),
    }));
    const configured = Object.keys(this.#options.settings.agents).flatMap((id) => this.configured(id) ?? []);
    return { items: [...configured, ...items].toSorted((a, b) => a.id.localeCompare(b.id)), unreadable };
  }

  /**
   * Makes or replaces a tenant's own agent. Returns whether it is new. Errors:
   * `agent.operator-only`, `request.invalid`, `limit.storage`, `tenant.ended`.
   */
  async put(tenant: string, id: string, definition: ApiAgentDefinition): Promise<boolean> {
    this.#refuseConfigured(id);
    const { redis, settings, caps } = this.#options;
    const { maxAgentsPerTenant, maxAgentBytesPerTenant } = settings.limits;
    if ((await measureKey(redis, this.#key(tenant))) >= maxAgentBytesPerTenant)
      throw new MusterError('limit.storage', `The agents of a tenant take at most ${maxAgentBytesPerTenant} bytes`, {
        details: { maxAgentBytesPerTenant },
      });
    const isNew = await caps.write(tenant, id, definition);
    // Counted afterwards, so that callers at the same time cannot all take the last place.
    if (!isNew || (await redis.hlen(this.#key(tenant))) <= maxAgentsPerTenant) return isNew;
    await caps.remove(tenant, id);
    throw new MusterError('request.invalid', `A tenant has at most ${maxAgentsPerTenant} agents of its own`, {
      details: { maxAgentsPerTenant },
    });
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

  #refuseConfigured(id: string): void {
    if (this.configured(id))
      throw new MusterError('agent.operator-only', `The agent "${id}" comes from the configuration and is changed there`);
  }

  #key(tenant: string): string {
    return this.#options.keys.tenant(tenant).agents;
  }
}

function readDefinition(json: string): AgentDefinition {
  return apiAgentDefinitionSchema.parse(JSON.parse(json));
}
