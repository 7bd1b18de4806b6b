import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { newTaskId, TASK_ID, taskIdFor } from '#shared/tasks/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';

const PREFIX = 'batch_';

export const ENDPOINTS = ['/v1/chat/completions', '/v1/responses'] as const;

/** What a batch is made of. Times are ms since the epoch. */
const recordSchema = z.object({
  endpoint: z.enum(ENDPOINTS),
  /** With the prefix of this protocol. */
  inputFile: z.string(),
  window: z.string(),
  metadata: z.record(z.string(), z.string()),
  /** The key that it came by. */
  keyId: z.string().nullable(),
  traceparent: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});
export type BatchRecord = z.infer<typeof recordSchema>;

const errorSchema = z.object({ code: z.string(), message: z.string(), line: z.number().nullable() });
export type BatchError = z.infer<typeof errorSchema>;

export const BATCH_STATUSES = ['validating', 'in_progress', 'finalizing', 'failed', 'completed', 'expired', 'cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Where a batch stands. Only whoever runs it writes this. */
const stateSchema = z.object({
  status: z.enum(BATCH_STATUSES),
  /** Its requests; 0 until they were read. */
  total: z.number(),
  /** The first that is no task yet, and the first that has no end yet. */
  next: z.number(),
  done: z.number(),
  completed: z.number(),
  failed: z.number(),
  /** When it came to a status. */
  at: z.partialRecord(z.enum(BATCH_STATUSES), z.number()),
  outputFile: z.string().nullable(),
  errorFile: z.string().nullable(),
  errors: z.array(errorSchema),
});
export type BatchState = z.infer<typeof stateSchema>;

export interface Batch {
  readonly tenant: string;
  readonly id: string;
  readonly record: BatchRecord;
  readonly state: BatchState;
  /** When somebody cancelled it; null for nobody. */
  readonly cancelAt: number | null;
}

const FIRST: BatchState = {
  status: 'validating',
  total: 0,
  next: 0,
  done: 0,
  completed: 0,
  failed: 0,
  at: {},
  outputFile: null,
  errorFile: null,
  errors: [],
};

const OVER: ReadonlySet<BatchStatus> = new Set(['failed', 'completed', 'expired', 'cancelled']);

export function isOver({ state }: Batch): boolean {
  return OVER.has(state.status);
}

/** The task of a request of a batch, by its line, from 0: the same whoever makes it. */
export function taskOfLine({ tenant, id, record }: Pick<Batch, 'tenant' | 'id' | 'record'>, line: number): string {
  return taskIdFor(`${tenant}/${id}`, { ms: record.createdAt, place: line });
}

/** For so long nobody else looks at a batch that a process works on, ms. */
const CLAIM_MS = 60_000;

/** BatchStore is responsible for the batches of all tenants, and for which of them somebody is to look at. */
export class BatchStore {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Errors: `limit.actions` where none that is kept has ended; `tenant.ended`. */
  async create(tenant: string, record: BatchRecord): Promise<Batch> {
    await this.#makeRoom(tenant);
    const batch: Batch = { tenant, id: `${PREFIX}${newTaskId()}`, record, state: FIRST, cancelAt: null };
    const own = this.#ledger.keys.tenant(tenant);
    const command = ['HSET', 'record', JSON.stringify(record), 'state', JSON.stringify(FIRST)] as const;
    await writeOfTenant(this.#ledger, { tenant, key: own.batch(batch.id), command, keepMs: this.keepMs });
    await writeOfTenant(this.#ledger, { tenant, key: own.batches, command: ['ZADD', record.createdAt, batch.id], keepMs: this.keepMs });
    await this.lookIn(batch, 0);
    return batch;
  }

  /** Errors: `task.not-found`, also for another tenant's. */
  async find(tenant: string, id: string): Promise<Batch> {
    const batch = id.startsWith(PREFIX) && TASK_ID.test(id.slice(PREFIX.length)) ? await this.#read(tenant, id) : null;
    if (!batch) throw new MusterError('task.not-found', `Batch with id '${id.slice(0, 100)}' not found.`);
    return batch;
  }

  /** Those that are kept, oldest first. */
  async list(tenant: string): Promise<Batch[]> {
    const ids = await this.#ledger.redis.zrange(this.#ledger.keys.tenant(tenant).batches, '0', '-1');
    const batches = await Promise.all(ids.map((id) => this.#read(tenant, id)));
    return batches.filter((batch) => batch !== null);
  }

  /** Notes where it stands, and when somebody is to look at it next, ms from now; it is left alone once it is over. */
  async write(batch: Batch, lookInMs: number): Promise<void> {
    const { tenant, id, state } = batch;
    const key = this.#ledger.keys.tenant(tenant).batch(id);
    await writeOfTenant(this.#ledger, { tenant, key, command: ['HSET', 'state', JSON.stringify(state)], keepMs: this.keepMs });
    if (isOver(batch)) await this.forget(batch);
    else await this.lookIn(batch, lookInMs);
  }

  /** Has it come to its end without further requests. */
  async cancel(batch: Batch): Promise<Batch> {
    const { tenant, id } = batch;
    const { redis, keys } = this.#ledger;
    if (isOver(batch)) return batch;
    await redis.hsetnx(keys.tenant(tenant).batch(id), 'cancelAt', String(Date.now()));
    await this.lookIn(batch, 0);
    return await this.find(tenant, id);
  }

  /** Why a request became no task, as JSON. */
  async refuse({ tenant, id }: Batch, line: number, why: object): Promise<void> {
    await this.#ledger.redis.hset(this.#ledger.keys.tenant(tenant).batch(id), `refused:${line}`, JSON.stringify(why));
  }

  /** The same of some lines; null for each that became a task. */
  async refusals({ tenant, id }: Batch, lines: readonly number[]): Promise<(string | null)[]> {
    if (lines.length === 0) return [];
    const fields = lines.map((line) => `refused:${line}`);
    return await this.#ledger.redis.hmget(this.#ledger.keys.tenant(tenant).batch(id), ...fields);
  }

  /** Batches of a shard that somebody is to look at now; nobody else does for a while. */
  async takeDue(shard: number, max: number): Promise<Batch[]> {
    const { redis, keys } = this.#ledger;
    const { openBatches } = keys.shard(shard);
    const now = await redisNow(redis);
    const members = await redis.zrangebyscore(openBatches, '-inf', now, 'LIMIT', 0, max);
    const taken: Batch[] = [];
    for (const member of members) {
      const [tenant = '', id = ''] = member.split('/');
      await redis.zadd(openBatches, 'XX', now + CLAIM_MS, member);
      const batch = await this.#read(tenant, id);
      if (batch && !isOver(batch)) taken.push(batch);
      else await this.forget({ tenant, id });
    }
    return taken;
  }

  async lookIn({ tenant, id }: Pick<Batch, 'tenant' | 'id'>, ms: number): Promise<void> {
    const now = await redisNow(this.#ledger.redis);
    await this.#ledger.redis.zadd(this.#open(tenant), now + ms, `${tenant}/${id}`);
  }

  async forget({ tenant, id }: Pick<Batch, 'tenant' | 'id'>): Promise<void> {
    await this.#ledger.redis.zrem(this.#open(tenant), `${tenant}/${id}`);
  }

  get keepMs(): number {
    return this.#ledger.settings.tasks.retentionMs;
  }

  async #makeRoom(tenant: string): Promise<void> {
    const { maxBatches } = this.#ledger.settings.openai;
    const kept = await this.list(tenant);
    const own = this.#ledger.keys.tenant(tenant);
    const over = kept.filter(isOver).slice(0, Math.max(0, kept.length - maxBatches + 1));
    if (kept.length - over.length >= maxBatches)
      throw new MusterError('limit.actions', `A tenant has at most ${maxBatches} batches (openai.maxBatches), and none of these has ended`);
    if (over.length === 0) return;
    await this.#ledger.redis.zrem(own.batches, ...over.map(({ id }) => id));
    await this.#ledger.redis.unlink(...over.map(({ id }) => own.batch(id)));
  }

  async #read(tenant: string, id: string): Promise<Batch | null> {
    const key = this.#ledger.keys.tenant(tenant).batch(id);
    const [record, state, cancelAt] = await this.#ledger.redis.hmget(key, 'record', 'state', 'cancelAt');
    if (record == null || state == null) return null;
    const at = cancelAt == null ? null : Number(cancelAt);
    return { tenant, id, record: recordSchema.parse(JSON.parse(record)), state: stateSchema.parse(JSON.parse(state)), cancelAt: at };
  }

  #open(tenant: string): string {
    const { keys } = this.#ledger;
    return keys.shard(keys.shardOf(tenant)).openBatches;
  }
}
