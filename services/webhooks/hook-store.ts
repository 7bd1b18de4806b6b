import { MusterError } from '#shared/errors/muster-error.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Keys } from '#shared/redis/keys.ts';
import { hookSchema, type Hook } from './hook.ts';

export interface HookStoreParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly maxHooksPerTenant: number;
}

export interface HookPage {
  readonly hooks: readonly Hook[];
  readonly nextCursor: string | null;
}

/** HookStore keeps the hooks of all tenants, and finds a hook by its id alone for senders, who know no tenant. */
export class HookStore {
  readonly #redis: RedisClient;
  readonly #keys: Keys;
  readonly #maxHooks: number;

  constructor({ redis, keys, maxHooksPerTenant }: HookStoreParts) {
    this.#redis = redis;
    this.#keys = keys;
    this.#maxHooks = maxHooksPerTenant;
  }

  /** Throws `request.invalid` when the tenant has all the hooks it may have. */
  async create(hook: Hook): Promise<void> {
    const { hooks } = this.#keys.tenant(hook.tenant);
    // The owner first: dying in between leaves an id that nobody was told, instead of a hook that is listed and never found.
    await this.#redis.hset(this.#keys.fleet.hookOwners, hook.id, hook.tenant);
    await this.#redis.hset(hooks, hook.id, JSON.stringify(hook));
    // Counted afterwards, so that callers at the same time cannot all take the last place.
    if ((await this.#redis.hlen(hooks)) <= this.#maxHooks) return;
    await this.remove(hook.tenant, hook.id);
    throw new MusterError('request.invalid', `A tenant has at most ${this.#maxHooks} hooks`, {
      details: { maxHooksPerTenant: this.#maxHooks },
    });
  }

  async find(tenant: string, id: string): Promise<Hook | null> {
    const text = await this.#redis.hget(this.#keys.tenant(tenant).hooks, id);
    return text === null ? null : readHook(text);
  }

  /** The hook of whichever tenant. */
  async findAnywhere(id: string): Promise<Hook | null> {
    const tenant = await this.#redis.hget(this.#keys.fleet.hookOwners, id);
    return tenant === null ? null : await this.find(tenant, id);
  }

  /** Up to `limit` hooks with ids after the cursor; ids sort by when the hooks were made. */
  async list(tenant: string, { limit, cursor }: { limit: number; cursor: string | null }): Promise<HookPage> {
    const { hooks } = this.#keys.tenant(tenant);
    const ids = (await this.#redis.hkeys(hooks)).toSorted().filter((id) => cursor === null || id > cursor);
    const page = ids.slice(0, limit);
    const texts = page.length === 0 ? [] : await this.#redis.hmget(hooks, ...page);
    return {
      hooks: texts.filter((text) => text !== null).map((text) => readHook(text)),
      nextCursor: ids.length > limit ? (page.at(-1) ?? null) : null,
    };
  }

  /** Returns false when the hook was deleted in the meantime; it stays deleted. */
  async replace(hook: Hook): Promise<boolean> {
    const { hooks } = this.#keys.tenant(hook.tenant);
    await this.#redis.hset(hooks, hook.id, JSON.stringify(hook));
    if ((await this.#redis.hget(this.#keys.fleet.hookOwners, hook.id)) === hook.tenant) return true;
    await this.#redis.hdel(hooks, hook.id);
    return false;
  }

  /** Returns false when there was none. The owner goes first, which is what `replace` looks for. */
  async remove(tenant: string, id: string): Promise<boolean> {
    const { hooks } = this.#keys.tenant(tenant);
    if ((await this.#redis.hexists(hooks, id)) === 0) return false;
    await this.#redis.hdel(this.#keys.fleet.hookOwners, id);
    return (await this.#redis.hdel(hooks, id)) === 1;
  }
}

function readHook(text: string): Hook {
  return hookSchema.parse(JSON.parse(text));
}
