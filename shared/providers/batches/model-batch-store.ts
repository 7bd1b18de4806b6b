import { fileURLToPath } from 'node:url';
import type { Settings } from '../../config/index.ts';
import { type Keys, loadScripts, type RedisClient, redisNow, runScript, type Script } from '../../redis/index.ts';
import {
  type BatchedRequest,
  type BatchProgress,
  type BatchTarget,
  batchTargetSchema,
  groupOf,
  type ModelBatch,
  type ModelBatchRecord,
  readBatch,
  readRequestName,
  readRequestRecord,
  requestName,
  type RequestRecord,
} from './batch-record.ts';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));

export interface ModelBatchPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'modelBatches'>;
}

/** A request that waits to be sent. */
export interface WaitingRequest extends BatchedRequest {
  /** When it came, ms since the epoch. */
  readonly at: number;
  readonly record: RequestRecord;
}

/** Where a request is: in a batch, or among those that wait. */
export interface RequestPlace {
  readonly record: RequestRecord;
  /** When it came, ms since the epoch; null once it is in a batch. */
  readonly waitsSince: number | null;
  readonly batch: ModelBatch | null;
}

/** Fields of a batch that name what was done of it at its provider. The first who writes one did it. */
type Step = 'uploading' | 'file' | 'creating' | 'provider';

/** ModelBatchStore is responsible for requests that go by batches of providers: those that wait, and the batches that have the others. */
export class ModelBatchStore {
  readonly #ports: ModelBatchPorts;

  constructor(ports: ModelBatchPorts) {
    this.#ports = ports;
  }

  get #fleet(): Keys['fleet'] {
    return this.#ports.keys.fleet;
  }

  /** Adds a request to those that wait. Returns false where there are too many; it does nothing for one that is there. */
  async add(request: BatchedRequest, target: BatchTarget, record: Omit<RequestRecord, 'group'>): Promise<boolean> {
    const { redis, settings } = this.#ports;
    const { modelBatchRequests, modelBatchGroups, modelBatchLine } = this.#fleet;
    const [group, name] = [groupOf(target), requestName(request)];
    if ((await redis.hget(modelBatchRequests, `of:${name}`)) !== null) return true;
    if ((await redis.hlen(modelBatchRequests)) >= settings.modelBatches.maxWaiting) return false;
    const now = await redisNow(redis);
    await redis
      .multi()
      .hset(modelBatchGroups, group, JSON.stringify(target))
      .hset(modelBatchRequests, name, JSON.stringify({ ...record, group }))
      .zadd(modelBatchLine(group), 'NX', now, name)
      .exec();
    return true;
  }

  /** Who is called by requests of this fleet, by group. */
  async targets(): Promise<Map<string, BatchTarget>> {
    const stored = await this.#ports.redis.hgetall(this.#fleet.modelBatchGroups);
    return new Map(Object.entries(stored).map(([group, text]) => [group, batchTargetSchema.parse(JSON.parse(text))]));
  }

  /** Requests of a group that wait, oldest first. */
  async waiting(group: string, max: number): Promise<WaitingRequest[]> {
    const { redis } = this.#ports;
    const members = await redis.zrange(this.#fleet.modelBatchLine(group), '0', String(max - 1), 'WITHSCORES');
    const names = members.filter((_, at) => at % 2 === 0);
    if (names.length === 0) return [];
    const records = await redis.hmget(this.#fleet.modelBatchRequests, ...names);
    return names.flatMap((name, at) => {
      const record = readRequestRecord(records[at]);
      return record ? [{ ...readRequestName(name), at: Number(members[at * 2 + 1]), record }] : [];
    });
  }

  /** Makes a batch of requests that wait. Returns false where others took them all. */
  async take(id: string, record: ModelBatchRecord, requests: readonly BatchedRequest[]): Promise<boolean> {
    const { redis } = this.#ports;
    const { modelBatchLine, modelBatchRequests, modelBatches, modelBatch } = this.#fleet;
    const keys = [modelBatchLine(groupOf(record.target)), modelBatchRequests, modelBatches, modelBatch(id)];
    const args = [id, JSON.stringify(record), record.createdAt, ...requests.map(requestName)];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return Number(await runScript(redis, SCRIPTS.get('take-requests') as Script, keys, args)) > 0;
  }

  /** Batches that somebody is to look at now; nobody else does for `modelBatches.stepMs`. */
  async takeDue(max: number): Promise<string[]> {
    const { redis } = this.#ports;
    const now = await redisNow(redis);
    const ids = await redis.zrangebyscore(this.#fleet.modelBatches, '-inf', now, 'LIMIT', 0, max);
    for (const id of ids) await this.keep(id);
    return ids;
  }

  /** When somebody is to look at a batch next, ms from now; infinite without one. */
  async dueInMs(): Promise<number> {
    const { redis } = this.#ports;
    const [[, at], now] = await Promise.all([redis.zrange(this.#fleet.modelBatches, '0', '0', 'WITHSCORES'), redisNow(redis)]);
    return at === undefined ? Infinity : Number(at) - now;
  }

  /** Keeps a batch to this process for another step. */
  async keep(id: string): Promise<void> {
    await this.lookIn(id, this.#ports.settings.modelBatches.stepMs);
  }

  /** Has somebody look at a batch in so many milliseconds. */
  async lookIn(id: string, ms: number): Promise<void> {
    const { redis } = this.#ports;
    await redis.zadd(this.#fleet.modelBatches, 'XX', (await redisNow(redis)) + ms, id);
  }

  /** Null for one that has ended. */
  async read(id: string): Promise<ModelBatch | null> {
    return readBatch(id, await this.#ports.redis.hgetall(this.#fleet.modelBatch(id)));
  }

  /** Notes a step of a batch. Returns what was noted first, which may be another process's. */
  async note(id: string, step: Step, value: string): Promise<string> {
    const key = this.#fleet.modelBatch(id);
    if ((await this.#ports.redis.hsetnx(key, step, value)) === 1) return value;
    return (await this.#ports.redis.hget(key, step)) ?? value;
  }

  /** Notes that a look at a batch failed. Returns how many did in a row. */
  async noteFailure(id: string): Promise<number> {
    return await this.#ports.redis.hincrby(this.#fleet.modelBatch(id), 'failures', 1);
  }

  async noteProgress(id: string, progress: BatchProgress): Promise<void> {
    const key = this.#fleet.modelBatch(id);
    await this.#ports.redis.multi().hset(key, 'progress', JSON.stringify(progress)).hdel(key, 'failures').exec();
  }

  /** The record of a request; null for one that was answered. */
  async recordOf(request: BatchedRequest): Promise<RequestRecord | null> {
    return readRequestRecord(await this.#ports.redis.hget(this.#fleet.modelBatchRequests, requestName(request)));
  }

  /** A request was answered, or is not sent. `batch`: the one that it is in. */
  async forget(request: BatchedRequest, batch: string | null): Promise<void> {
    const { modelBatchRequests, modelBatch, modelBatchLine } = this.#fleet;
    const name = requestName(request);
    const record = await this.recordOf(request);
    const commands = this.#ports.redis.multi().hdel(modelBatchRequests, name, `of:${name}`);
    if (batch !== null) commands.hdel(modelBatch(batch), `request:${name}`);
    if (record) commands.zrem(modelBatchLine(record.group), name);
    await commands.exec();
  }

  /** A batch has ended. */
  async remove(id: string): Promise<void> {
    const { modelBatches, modelBatch } = this.#fleet;
    await this.#ports.redis.multi().zrem(modelBatches, id).del(modelBatch(id)).exec();
  }

  /** Where a request is; null for one that is not on its way. */
  async find(request: BatchedRequest): Promise<RequestPlace | null> {
    const name = requestName(request);
    const [text, batch] = await this.#ports.redis.hmget(this.#fleet.modelBatchRequests, name, `of:${name}`);
    const record = readRequestRecord(text);
    if (!record) return null;
    if (batch != null) return { record, waitsSince: null, batch: await this.read(batch) };
    const since = await this.#ports.redis.zscore(this.#fleet.modelBatchLine(record.group), name);
    return { record, waitsSince: since === null ? null : Number(since), batch: null };
  }
}
