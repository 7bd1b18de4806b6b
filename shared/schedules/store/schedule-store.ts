import { fileURLToPath } from 'node:url';
import type { Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { measureKey } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import {
  type Keys,
  loadScripts,
  pairs,
  readRecord,
  readRecords,
  type ReadRecords,
  type RedisClient,
  runScript,
  type Script,
  scriptJson,
} from '../../redis/index.ts';
import { tenantStateInLua } from '../../tenants/index.ts';
import { parseSchedule, serializeSchedule, type Schedule } from './schedule.ts';

export interface ScheduleStoreParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly log: Log;
}

/** What happened, for the tenant's event stream. */
export type ScheduleEvent = 'changed' | 'paused' | 'resumed' | 'completed' | 'failed';

export interface ScheduleChange {
  /** With the version it was read at. */
  schedule: Schedule;
  event?: ScheduleEvent | undefined;
}

export type CreateAnswer =
  | { kind: 'created'; number: number }
  | { kind: 'known' | 'conflict'; id: string }
  | { kind: 'full'; count: number }
  | { kind: 'closed'; state: 'disabled' | 'ended' };

export interface DueSchedule {
  tenant: string;
  id: string;
  dueAt: number;
}

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/**
 * ScheduleStore is responsible for the records of schedules and for when each is looked at next, which change together. A write
 * says which version it saw, so that of two at the same time one is told to look again.
 */
export class ScheduleStore {
  readonly #parts: ScheduleStoreParts;

  constructor(parts: ScheduleStoreParts) {
    this.#parts = parts;
  }

  /** Makes a schedule; under a key that came before, none. */
  async create(schedule: Schedule, digest: string): Promise<CreateAnswer> {
    const { keys, settings } = this.#parts;
    const own = keys.tenant(schedule.tenant);
    const { maxSchedulesPerTenant: maxSchedules } = settings.scheduler;
    const states = keys.shard(keys.shardOf(schedule.tenant)).tenantStates;
    const [kind, value] = await this.#run<[CreateAnswer['kind'], never]>(
      'create-schedule',
      [own.schedules, own.scheduleNumbers, own.scheduleCount, own.scheduleKeys, this.#due(schedule.tenant), own.events, states],
      [
        this.#options(schedule.tenant, { maxSchedules }),
        schedule.id,
        serializeSchedule(schedule),
        schedule.wakeAt ?? '',
        schedule.key ?? '',
        digest,
        aboutOf(schedule),
      ],
    );
    if (kind === 'created') return { kind, number: value };
    if (kind === 'closed') return { kind, state: value };
    return kind === 'full' ? { kind, count: value } : { kind, id: value };
  }

  /** Throws `limit.storage` when a tenant's schedules take all the memory that they may. */
  async assertRoom(tenant: string): Promise<void> {
    const { redis, keys, settings } = this.#parts;
    const { maxBytesPerTenant } = settings.scheduler;
    const bytes = await measureKey(redis, keys.tenant(tenant).schedules);
    if (bytes < maxBytesPerTenant) return;
    throw new MusterError('limit.storage', `The schedules of a tenant take at most ${maxBytesPerTenant} bytes, and take ${bytes}`, {
      details: { maxBytesPerTenant, bytes },
    });
  }

  /** Writes schedules of one tenant. Answers for each whether it was written; false when somebody else changed or removed it. */
  async save(tenant: string, changes: readonly ScheduleChange[]): Promise<boolean[]> {
    if (changes.length === 0) return [];
    const own = this.#parts.keys.tenant(tenant);
    const items = changes.map(({ schedule, event }) => [
      schedule.id,
      String(schedule.version),
      serializeSchedule(schedule),
      schedule.wakeAt === null ? '' : String(schedule.wakeAt),
      event === undefined ? '' : `schedule.${event}`,
      schedule.pausedReason ?? '',
      event === undefined ? '' : aboutOf(schedule),
    ]);
    const written = await this.#run<number[]>(
      'save-schedules',
      [own.schedules, this.#due(tenant), own.events],
      [this.#options(tenant), scriptJson(items)],
    );
    return written.map((one) => one === 1);
  }

  /** False when somebody changed or removed it meanwhile. `isQuiet`: no event says so, because its time was over. */
  async remove(schedule: Schedule, isQuiet = false): Promise<boolean> {
    const { tenant, id, version, key } = schedule;
    const own = this.#parts.keys.tenant(tenant);
    const removed = await this.#run<number>(
      'remove-schedule',
      [own.schedules, own.scheduleNumbers, own.scheduleKeys, this.#due(tenant), own.events],
      [this.#options(tenant), id, version, key ?? '', aboutOf(schedule), isQuiet ? 1 : ''],
    );
    return removed === 1;
  }

  /** In their order; null for what is not there or cannot be read. */
  async read(tenant: string, ids: readonly string[]): Promise<(Schedule | null)[]> {
    if (ids.length === 0) return [];
    const stored = await this.#parts.redis.hmget(this.#parts.keys.tenant(tenant).schedules, ...ids);
    return stored.map((text, position) => (text === null ? null : this.readStored(tenant, ids[position] ?? '', text)));
  }

  /** The same with what cannot be read. */
  async readAll(tenant: string, ids: readonly string[]): Promise<ReadRecords<Schedule>> {
    if (ids.length === 0) return { items: [], unreadable: [] };
    const stored = await this.#parts.redis.hmget(this.#parts.keys.tenant(tenant).schedules, ...ids);
    return readRecords(
      stored.flatMap((text, position) => (text === null ? [] : [[ids[position] ?? '', text] as const])),
      parseSchedule,
    );
  }

  /** One record as it is stored; null, with a line in the log, for one that cannot be read. */
  readStored(tenant: string, id: string, text: string): Schedule | null {
    try {
      return parseSchedule(text);
    } catch (error) {
      this.#parts.log.error(
        { event: 'schedule.unreadable-record', err: error, tenant, schedule: id },
        'the record of a schedule cannot be read',
      );
      return null;
    }
  }

  /** By its id or its number. Errors: `record.unreadable`. */
  async find(tenant: string, idOrNumber: string): Promise<Schedule | null> {
    const id = /^\d{1,15}$/.test(idOrNumber) ? await this.#idOf(tenant, idOrNumber) : idOrNumber;
    if (id === null) return null;
    const stored = await this.#parts.redis.hget(this.#parts.keys.tenant(tenant).schedules, id);
    return stored === null ? null : readRecord(id, stored, parseSchedule);
  }

  /** The schedule that was made under this key. */
  async findByKey(tenant: string, key: string): Promise<Schedule | null> {
    const made = await this.#parts.redis.hget(this.#parts.keys.tenant(tenant).scheduleKeys, key);
    return made === null ? null : await this.find(tenant, made.split(' ')[0] ?? '');
  }

  /** Ids of up to `most` schedules with numbers below `before`, newest first, with their numbers. */
  async list(tenant: string, before: number | null, most: number): Promise<{ id: string; number: number }[]> {
    const { scheduleNumbers } = this.#parts.keys.tenant(tenant);
    const high = before === null ? '+inf' : `(${before}`;
    const found = await this.#parts.redis.zrevrangebyscore(scheduleNumbers, high, '-inf', 'WITHSCORES', 'LIMIT', 0, most);
    return pairs(found).map(([id, number]) => ({ id, number: Number(number) }));
  }

  /** Schedules of a shard that are to be looked at by `now`, the longest overdue first. */
  async due(shard: number, now: number, most: number): Promise<DueSchedule[]> {
    const key = this.#parts.keys.shard(shard).schedulesDue;
    const found = await this.#parts.redis.zrangebyscore(key, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most);
    return pairs(found).map(([member, dueAt]) => {
      const { tenant, id } = parseDue(member);
      return { tenant, id, dueAt: Number(dueAt) };
    });
  }

  /** When the first schedule of a shard is to be looked at; null when there is none. */
  async nextDue(shard: number): Promise<number | null> {
    const [, dueAt] = await this.#parts.redis.zrange(this.#parts.keys.shard(shard).schedulesDue, 0, '0', 'WITHSCORES');
    return dueAt === undefined ? null : Number(dueAt);
  }

  /** Looks at it no more; its record, if there is one, says nothing about when. */
  async forgetDue(tenant: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#parts.redis.zrem(this.#due(tenant), ...ids.map((id) => `${tenant}/${id}`));
  }

  async #idOf(tenant: string, number: string): Promise<string | null> {
    const [id = null] = await this.#parts.redis.zrangebyscore(this.#parts.keys.tenant(tenant).scheduleNumbers, number, number);
    return id;
  }

  #due(tenant: string): string {
    return this.#parts.keys.shard(this.#parts.keys.shardOf(tenant)).schedulesDue;
  }

  #options(tenant: string, more: object = {}): string {
    const { keys, settings } = this.#parts;
    return scriptJson({ tenant, channel: keys.shard(keys.shardOf(tenant)).signal, maxEvents: settings.events.maxPerTenant, ...more });
  }

  /** What a script answers is in its header. */
  async #run<Reply>(name: string, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await runScript(this.#parts.redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
  }
}

/** What the event stream says of a schedule besides its number: it may be gone when somebody reads that. */
function aboutOf({ name, agent, session }: Schedule): string {
  return JSON.stringify({ name, agent, session });
}

/** The name of a schedule among those that are due, taken apart. */
export function parseDue(member: string): { tenant: string; id: string } {
  const [tenant = '', id = ''] = member.split('/', 2);
  return { tenant, id };
}
