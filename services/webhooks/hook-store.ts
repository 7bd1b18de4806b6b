import { fileURLToPath } from 'node:url';
import { MusterError } from '#shared/errors/index.ts';
import {
  type Keys,
  loadScripts,
  readRecord,
  readRecords,
  type RedisClient,
  runScript,
  type Script,
  type UnreadableRecord,
} from '#shared/redis/index.ts';
import { openRecord, type Seal, sealRecord, tenantEnded, tenantStateInLua, writeOfFleet, writeOfTenant } from '#shared/tenants/index.ts';
import { wait } from '#shared/time/index.ts';
import { type Hook, hookSchema } from './hook.ts';

/** About two seconds in all. Of concurrent writers one succeeds each time. */
const TRIES = 50;
const MAX_PAUSE_MS = 100;
const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is in that folder
const REPLACE = SCRIPTS.get('replace-hook') as Script;

export interface HookStoreParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly seal: Seal;
  readonly maxHooksPerTenant: number;
}

export interface HookPage {
  readonly hooks: readonly Hook[];
  readonly unreadable: readonly UnreadableRecord[];
  readonly nextCursor: string | null;
}

/** HookStore keeps the hooks of all tenants, and finds a hook by its id for senders, who know no tenant. */
export class HookStore {
  readonly #place: Pick<HookStoreParts, 'redis' | 'keys'>;
  readonly #redis: RedisClient;
  readonly #keys: Keys;
  readonly #seal: Seal;
  readonly #maxHooks: number;

  constructor({ redis, keys, seal, maxHooksPerTenant }: HookStoreParts) {
    this.#place = { redis, keys };
    this.#redis = redis;
    this.#keys = keys;
    this.#seal = seal;
    this.#maxHooks = maxHooksPerTenant;
  }

  /** Throws `tenant.ended`, and `request.invalid` when the tenant has all the hooks it may have. */
  async create(hook: Hook): Promise<void> {
    const { hooks } = this.#keys.tenant(hook.tenant);
    // The owner first: a crash in between leaves an unused id instead of a listed hook that is never found.
    const { tenant } = hook;
    await writeOfFleet(this.#place, { tenant, key: this.#keys.fleet.hookOwners, command: ['HSET', hook.id, tenant] });
    await writeOfTenant(this.#place, { tenant, key: hooks, command: ['HSET', hook.id, this.#textOf(hook)] });
    // Counted afterwards, so that callers at the same time cannot all take the last place.
    if ((await this.#redis.hlen(hooks)) <= this.#maxHooks) return;
    await this.remove(hook.tenant, hook.id);
    throw new MusterError('request.invalid', `A tenant has at most ${this.#maxHooks} hooks`, {
      details: { maxHooksPerTenant: this.#maxHooks },
    });
  }

  async find(tenant: string, id: string): Promise<Hook | null> {
    const text = await this.#redis.hget(this.#keys.tenant(tenant).hooks, id);
    return text === null ? null : readRecord(id, text, (record) => this.#read(tenant, id, record));
  }

  /** The hook of whichever tenant. */
  async findAnywhere(id: string): Promise<Hook | null> {
    const tenant = await this.#redis.hget(this.#keys.fleet.hookOwners, id);
    return tenant === null ? null : await this.find(tenant, id);
  }

  /** Which of these ids are those of hooks, of whichever tenant. */
  async findKnown(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const owners = await this.#redis.hmget(this.#keys.fleet.hookOwners, ...ids);
    return new Set(ids.filter((_, at) => typeof owners[at] === 'string'));
  }

  /** Up to `limit` hooks with ids after the cursor; ids sort by when the hooks were made. */
  async list(tenant: string, { limit, cursor }: { limit: number; cursor: string | null }): Promise<HookPage> {
    const { hooks } = this.#keys.tenant(tenant);
    const ids = (await this.#redis.hkeys(hooks)).toSorted().filter((id) => cursor === null || id > cursor);
    const page = ids.slice(0, limit);
    const texts = page.length === 0 ? [] : await this.#redis.hmget(hooks, ...page);
    const stored = page.flatMap((id, position) => [[id, texts[position] ?? ''] as const]).filter(([, text]) => text !== '');
    const { items, unreadable } = readRecords(stored, (text, id) => this.#read(tenant, id, text));
    return { hooks: items, unreadable, nextCursor: ids.length > limit ? (page.at(-1) ?? null) : null };
  }

  /**
   * Changes a hook by compare and set: `change` gets the record that its result replaces. Null when there is no hook.
   * Errors: `hook.busy`, `tenant.ended`, and what `change` throws.
   */
  async change(tenant: string, id: string, change: (hook: Hook) => Hook): Promise<Hook | null> {
    const { hooks } = this.#keys.tenant(tenant);
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const seen = await this.#redis.hget(hooks, id);
      if (seen === null) return null;
      const changed = change(this.#read(tenant, id, seen));
      const answer = await this.#replace(tenant, id, seen, this.#textOf(changed));
      if (answer === 'ended') throw tenantEnded(tenant);
      if (answer === 'written') return changed;
      // Losers of a race wait for different times.
      await wait(Math.random() * Math.min(5 * attempt, MAX_PAUSE_MS));
    }
    throw new MusterError('hook.busy', 'Too many concurrent changes of this hook; try again', { details: { id } });
  }

  async #replace(tenant: string, id: string, seen: string, record: string): Promise<unknown> {
    const states = this.#keys.shard(this.#keys.shardOf(tenant)).tenantStates;
    return await runScript(this.#redis, REPLACE, [this.#keys.tenant(tenant).hooks, states], [tenant, id, seen, record]);
  }

  /** Returns false when there was none. */
  async remove(tenant: string, id: string): Promise<boolean> {
    const { hooks } = this.#keys.tenant(tenant);
    if ((await this.#redis.hexists(hooks, id)) === 0) return false;
    await this.#redis.hdel(this.#keys.fleet.hookOwners, id);
    return (await this.#redis.hdel(hooks, id)) === 1;
  }

  #read(tenant: string, id: string, text: string): Hook {
    return hookSchema.parse(openRecord(this.#seal, { kind: 'hooks', tenant, id }, text));
  }

  #textOf(hook: Hook): string {
    return sealRecord(this.#seal, { kind: 'hooks', tenant: hook.tenant, id: hook.id }, hook);
  }
}
