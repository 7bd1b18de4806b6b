import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Ledger, readLookup, sessionLookup } from '#shared/ledger/index.ts';
import { readRecord } from '#shared/redis/index.ts';
import { newTaskId, TASK_ID } from '#shared/tasks/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';

const PREFIX = 'conv_';

const recordSchema = z.object({ createdAt: z.number(), metadata: z.record(z.string(), z.string()) });

/** A conversation: its turns are tasks of the session of the same name. */
export interface ConversationRecord extends z.infer<typeof recordSchema> {
  readonly id: string;
}

/** An item that was added to a conversation, as its clients read it. */
export type StoredItem = { readonly id: string; readonly type?: unknown; readonly role?: unknown; readonly content?: unknown };

const itemSchema = z.looseObject({ id: z.string() });

/** Conversations that go for one that is made: more than one where the bound was lowered. */
const MAX_DROPPED = 100;

/** Beside the items: the record, and the bytes of them all. */
const RECORD = 'record';
const BYTES = 'bytes';

/** ConversationStore is responsible for the conversations of a tenant, and for what was added to them besides their turns. */
export class ConversationStore {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Makes a conversation; the one that was used longest ago goes where a tenant has too many. Errors: `tenant.disabled`, `tenant.ended`. */
  async create(tenant: string, metadata: Record<string, string>): Promise<ConversationRecord> {
    const conversation = { id: `${PREFIX}${newTaskId()}`, createdAt: Date.now(), metadata };
    await this.write(tenant, conversation);
    const own = this.#ledger.keys.tenant(tenant);
    const { redis, settings } = this.#ledger;
    const oldest = await redis.zrange(own.conversations, '0', `${-settings.openai.maxConversations - 1}`);
    await Promise.all(oldest.slice(0, MAX_DROPPED).map((id) => this.remove(tenant, id)));
    return conversation;
  }

  async write(tenant: string, { id, createdAt, metadata }: ConversationRecord): Promise<void> {
    const key = this.#key(tenant, id);
    const { keepMs } = this;
    await writeOfTenant(this.#ledger, { tenant, key, command: ['HSET', RECORD, JSON.stringify({ createdAt, metadata })], keepMs });
    await this.touch(tenant, id);
  }

  /** Errors: `task.not-found`, also for another tenant's. */
  async find(tenant: string, id: string): Promise<ConversationRecord> {
    const text = isConversationId(id) ? await this.#ledger.redis.hget(this.#key(tenant, id), RECORD) : null;
    if (text === null) throw new MusterError('task.not-found', `Conversation with id '${id.slice(0, 100)}' not found.`);
    return { id, ...readRecord(id, text, (json) => recordSchema.parse(JSON.parse(json))) };
  }

  async remove(tenant: string, id: string): Promise<void> {
    const own = this.#ledger.keys.tenant(tenant);
    await Promise.all([this.#ledger.redis.unlink(this.#key(tenant, id)), this.#ledger.redis.zrem(own.conversations, id)]);
  }

  /** Adds items. Errors: `request.too-large` for more than a conversation may have. */
  async add(tenant: string, id: string, items: readonly StoredItem[]): Promise<void> {
    const { redis, settings } = this.#ledger;
    const key = this.#key(tenant, id);
    const texts = items.map((item) => [item.id, JSON.stringify(item)] as const);
    const bytes = texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
    const { maxConversationItems: maxItems, maxRequestBytes: maxBytes } = settings.openai;
    // Counted first, so that callers at the same time cannot all take the last place.
    const [all, count] = await Promise.all([redis.hincrby(key, BYTES, bytes), redis.hlen(key)]);
    if (all > maxBytes || count + items.length > maxItems) {
      await redis.hincrby(key, BYTES, -bytes);
      throw new MusterError('request.too-large', `A conversation has at most ${maxItems} items of ${maxBytes} bytes that were added to it`);
    }
    const command = ['HSET', ...texts.flat()] as const;
    if (texts.length > 0) await writeOfTenant(this.#ledger, { tenant, key, command, keepMs: this.keepMs });
    await this.touch(tenant, id);
  }

  /** What was added, oldest first. */
  async items(tenant: string, id: string): Promise<StoredItem[]> {
    const found = Object.entries(await this.#ledger.redis.hgetall(this.#key(tenant, id)));
    const items = found.flatMap(([field, text]) => (field === RECORD || field === BYTES ? [] : [itemSchema.parse(JSON.parse(text))]));
    return items.toSorted((one, other) => (madeAt(one.id) < madeAt(other.id) ? -1 : 1));
  }

  /** What was added since its last turn. Errors: as `find`. */
  async newItems(tenant: string, id: string): Promise<StoredItem[]> {
    await this.find(tenant, id);
    const [items, [last = '']] = await Promise.all([
      this.items(tenant, id),
      readLookup(this.#ledger, sessionLookup(this.#ledger, tenant, id), { low: '', before: null, max: 1 }),
      this.touch(tenant, id),
    ]);
    return items.filter((item) => madeAt(item.id) > last);
  }

  /** Returns whether it was there. */
  async removeItem(tenant: string, id: string, item: string): Promise<boolean> {
    const { redis } = this.#ledger;
    const key = this.#key(tenant, id);
    const text = isItemId(item) ? await redis.hget(key, item) : null;
    if (text === null || (await redis.hdel(key, item)) === 0) return false;
    await redis.hincrby(key, BYTES, -Buffer.byteLength(text));
    return true;
  }

  /** As long as its turns. */
  get keepMs(): number {
    return this.#ledger.settings.tasks.retentionMs;
  }

  /** It is used now. */
  async touch(tenant: string, id: string): Promise<void> {
    const { conversations: key } = this.#ledger.keys.tenant(tenant);
    const { keepMs } = this;
    await this.#ledger.redis.pexpire(this.#key(tenant, id), keepMs);
    await writeOfTenant(this.#ledger, { tenant, key, command: ['ZADD', Date.now(), id], keepMs });
  }

  #key(tenant: string, id: string): string {
    return this.#ledger.keys.tenant(tenant).conversation(id);
  }
}

function isConversationId(id: string): boolean {
  return id.startsWith(PREFIX) && TASK_ID.test(id.slice(PREFIX.length));
}

const ITEM = /^[a-z]{2,3}_([0-9A-Z]{26})$/;

function isItemId(id: string): boolean {
  return ITEM.test(id);
}

/** The part of an item's id that sorts by time, as ids of tasks do. */
export function madeAt(id: string): string {
  return id.slice(id.indexOf('_') + 1).slice(0, 26);
}
