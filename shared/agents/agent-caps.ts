import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ApiAgentDefinition } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { type Keys, loadScripts, type RedisClient, runScript } from '../redis/index.ts';
import { CHANGES_KNOWN_MS, countChange, RecordChanges, type Seal, sealRecord, tenantEnded, tenantStateInLua } from '../tenants/index.ts';
import { Ticker } from '../time/index.ts';

interface AgentCapsOptions {
  redis: RedisClient;
  keys: Keys;
  log: Log;
  seal: Seal;
  /** Shared by what a process knows of; its own by default. */
  readonly changes?: RecordChanges;
}

type Caps = Readonly<Record<string, number>>;

/** What `write` may find stored: anything, or nothing. */
export const ANY_FORMER = '*';
export const NO_FORMER = '';

const NONE: Caps = {};

const answerSchema = z.union([z.tuple([z.literal('written'), z.int()]), z.tuple([z.enum(['ended', 'changed'])])]);

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/**
 * AgentCaps is responsible for knowing how many tasks of each agent made by API run at once, without a round trip, so that a change holds for
 * tasks that wait and run already. While Redis is away the last known figures stay.
 */
export class AgentCaps {
  readonly #options: AgentCapsOptions;
  readonly #ticker: Ticker;
  #byTenant: ReadonlyMap<string, Caps> = new Map();
  #reads = 0;
  #applied = 0;

  constructor(options: AgentCapsOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: CHANGES_KNOWN_MS,
      isBackground: true,
      run: (options.changes ?? new RecordChanges(options)).caller(() => this.refresh()),
      onError: (error) => options.log.debug({ err: error }, 'the caps of agents could not be read; the last known ones stay'),
    });
  }

  /** Resolves when they were read. When that fails it rejects, and keeps trying. */
  async start(): Promise<void> {
    this.#ticker.start();
    await this.refresh();
  }

  stop(): void {
    void this.#ticker.stop();
  }

  /** How many tasks of a tenant's own agents run at once, by agent; 0 for an agent whose bound was removed. */
  of(tenant: string): Caps {
    return this.#byTenant.get(tenant) ?? NONE;
  }

  /**
   * Writes an agent and its cap, provided that `former` is what is stored: its JSON, `ANY_FORMER` or `NO_FORMER`. Returns `changed` when
   * something else is. Errors: `tenant.ended`.
   */
  async write(tenant: string, id: string, definition: ApiAgentDefinition, former: string): Promise<'made' | 'replaced' | 'changed'> {
    const { redis, keys, seal } = this.#options;
    const { agentCaps, tenantStates } = keys.shard(keys.shardOf(tenant));
    const args = [tenant, id, sealRecord(seal, { kind: 'agents', tenant, id }, definition), definition.maxRunning ?? '', former];
    const script = SCRIPTS.get('put-agent');
    if (!script) throw new Error('The script put-agent is missing');
    const reply = await runScript(redis, script, [tenantStates, keys.tenant(tenant).agents, agentCaps], args);
    const [kind, isNew] = answerSchema.parse(reply);
    if (kind === 'ended') throw tenantEnded(tenant);
    if (kind === 'changed') return kind;
    await countChange(this.#options);
    await this.refresh();
    return isNew === 1 ? 'made' : 'replaced';
  }

  /** Removes an agent and its cap. Returns whether there was one. */
  async remove(tenant: string, id: string): Promise<boolean> {
    const { redis, keys } = this.#options;
    await redis.hdel(keys.shard(keys.shardOf(tenant)).agentCaps, `${tenant}/${id}`);
    const removed = await redis.hdel(keys.tenant(tenant).agents, id);
    await countChange(this.#options);
    return removed === 1;
  }

  /** Reads the caps of all tenants. The answer of a later call stays. */
  async refresh(): Promise<void> {
    const { redis, keys } = this.#options;
    const read = (this.#reads += 1);
    const shards = Array.from({ length: keys.shards }, (_, shard) => redis.hgetall(keys.shard(shard).agentCaps));
    const fields = (await Promise.all(shards)).flatMap((caps) => Object.entries(caps));
    if (read < this.#applied) return;
    this.#applied = read;
    const byTenant = Map.groupBy(fields, ([field]) => field.slice(0, field.indexOf('/')));
    this.#byTenant = new Map([...byTenant].map(([tenant, own]) => [tenant, capsOf(tenant, own)]));
  }
}

function capsOf(tenant: string, fields: readonly (readonly [field: string, cap: string])[]): Caps {
  return Object.fromEntries(fields.map(([field, cap]) => [field.slice(tenant.length + 1), Number(cap)]));
}
