import { fileURLToPath } from 'node:url';
import type { Settings } from '../config/index.ts';
import {
  type Keys,
  loadScripts,
  readRecord,
  readRecords,
  type ReadRecords,
  type RedisClient,
  runScript,
  type Script,
  scriptJson,
} from '../redis/index.ts';
import { tenantStateInLua } from '../tenants/index.ts';
import { type Action, actionSchema, hasEnded, storedForm, summaryOf } from './action.ts';

interface StoreParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** An action, and the version at which it was read: what may be replaced. */
export interface StoredAction {
  action: Action;
  version: number;
}

/** A worker's hold on the next step of an action. */
export interface TakenAction {
  tenant: string;
  id: string;
  /** Redis's time when it was taken, ms since the epoch. */
  now: number;
}

/** The caller's key for a request, and a digest of the request. */
export interface CreationKey {
  key: string;
  digest: string;
}

export type CreateAnswer =
  | { kind: 'created' }
  | { kind: 'known' | 'conflict'; id: string }
  | { kind: 'full'; count: number }
  | { kind: 'closed'; state: 'disabled' | 'ended' };

export interface SaveOptions {
  /** Until its next step, or until an ended one is removed, in milliseconds; by default what it was. */
  afterMs?: number;
  /** The type of the event that is published with it. */
  event?: string;
}

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/** ActionStore is responsible for the records of actions and for when each is due, so that one worker at a time runs its next step. */
export class ActionStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Creates an action that is due at once, unless one was created under the same key or too many are under way. */
  async create(action: Action, creation: CreationKey | null): Promise<CreateAnswer> {
    const { keys, settings } = this.#parts;
    const { tenant, id } = action;
    const own = keys.tenant(tenant);
    const { tenantStates } = keys.shard(keys.shardOf(tenant));
    const { maxActive, maxKept } = settings.actions;
    const [kind, value] = await this.#run<[CreateAnswer['kind'], never]>(
      'create-action',
      [own.actions, this.#dueKey(tenant), own.events, tenantStates, own.idempotency(`action:${creation?.key ?? ''}`)],
      [
        this.#options(tenant, { maxActive, maxKept, keepKeyMs: settings.tasks.idempotencyMs }),
        id,
        scriptJson(storedForm(action)),
        creation?.digest ?? '',
        scriptJson(summaryOf(action)),
      ],
    );
    if (kind === 'created') return { kind };
    if (kind === 'full') return { kind, count: value };
    return kind === 'closed' ? { kind, state: value } : { kind, id: value };
  }

  /** Takes the next step of the action that has been due longest; null when none is due. */
  async take(shard: number): Promise<TakenAction | null> {
    const { keys, settings } = this.#parts;
    const [member, now] = await this.#run<[string?, string?]>('take-action', [keys.shard(shard).actionsDue], [settings.actions.leaseMs]);
    if (member === undefined) return null;
    const [tenant = '', id = ''] = member.split('/');
    return { tenant, id, now: Number(now) };
  }

  /** Writes an action if it is still at that version. Returns it as it is stored now, or null when another process changed or removed it. */
  async save({ version }: StoredAction, action: Action, { afterMs, event }: SaveOptions = {}): Promise<StoredAction | null> {
    const own = this.#parts.keys.tenant(action.tenant);
    const written = await this.#run<number>(
      'save-action',
      [own.actions, this.#dueKey(action.tenant), own.events],
      [
        this.#options(action.tenant),
        action.id,
        version,
        hasEnded(action) ? 'ended' : 'open',
        scriptJson(storedForm(action)),
        afterMs ?? '',
        event ?? '',
        event === undefined ? '' : scriptJson(summaryOf(action)),
      ],
    );
    return written === 1 ? { action, version: version + 1 } : null;
  }

  /** One action of a tenant, or null. Errors: `record.unreadable`. */
  async find(tenant: string, id: string): Promise<StoredAction | null> {
    const { redis, keys } = this.#parts;
    const stored = await redis.hget(keys.tenant(tenant).actions, id);
    return stored === null ? null : readRecord(id, stored, parseStored);
  }

  /** All actions of a tenant that are kept, newest first. */
  async list(tenant: string): Promise<ReadRecords<Action>> {
    const { redis, keys } = this.#parts;
    const stored = await redis.hgetall(keys.tenant(tenant).actions);
    const { items, unreadable } = readRecords(Object.entries(stored), (text) => parseStored(text).action);
    return { items: items.toSorted((a, b) => (a.id < b.id ? 1 : -1)), unreadable };
  }

  /** Removes an action, or what is left of one. */
  async remove({ tenant, id }: Pick<Action, 'tenant' | 'id'>): Promise<void> {
    const { redis, keys } = this.#parts;
    await redis.hdel(keys.tenant(tenant).actions, id);
    await redis.zrem(this.#dueKey(tenant), `${tenant}/${id}`);
  }

  #dueKey(tenant: string): string {
    const { keys } = this.#parts;
    return keys.shard(keys.shardOf(tenant)).actionsDue;
  }

  #options(tenant: string, more: Record<string, number> = {}): string {
    const { keys, settings } = this.#parts;
    const { signal } = keys.shard(keys.shardOf(tenant));
    return JSON.stringify({ tenant, channel: signal, maxEvents: settings.events.maxPerTenant, ...more });
  }

  async #run<Reply>(name: string, keys: string[], args: (string | number)[]): Promise<Reply> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await runScript(this.#parts.redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
  }
}

const STORED = /^(\d+) (?:open|ended) (.*)$/s;

function parseStored(text: string): StoredAction {
  const [, version = '', json = 'null'] = STORED.exec(text) ?? [];
  return { action: actionSchema.parse(JSON.parse(json)), version: Number(version) };
}
