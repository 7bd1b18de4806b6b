import { fileURLToPath } from 'node:url';
import type { Settings } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import { type Keys, loadScripts, readRecord, type RedisClient, runScript, scanHash, type Script, scriptJson } from '../../redis/index.ts';
import { tenantStateInLua } from '../../tenants/index.ts';
import { DueTimes } from './due-times.ts';
import { parseSchedule, serializeSchedule, type Schedule } from './schedule.ts';

interface StoreParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly log: Log;
  /** Called when a schedule was written that is due before all others of its shard. */
  readonly onNext?: (shard: number, dueAt: number) => void;
}

/** What happened to a schedule, for the tenant's event stream. */
export type ScheduleEvent = 'changed' | 'paused' | 'resumed' | 'completed' | 'failed';

export interface ScheduleChange {
  /** The new record, with the version that it was read at. */
  schedule: Schedule;
  event?: ScheduleEvent | undefined;
}

export type CreateAnswer =
  | { kind: 'created'; number: number }
  | { kind: 'known' | 'conflict'; id: string }
  | { kind: 'full'; count: number }
  | { kind: 'closed'; state: 'disabled' | 'ended' };

/** Records read per batch of a scan. */
const BATCH = 200;
/** What the script answers for a schedule that is due before all others of its shard. */
const IS_NEXT = 2;
const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/**
 * ScheduleStore is responsible for the records of schedules. Each script writes a record with its due time, and only at the version that
 * the caller read: of two concurrent writers one reads again.
 */
export class ScheduleStore {
  readonly due: DueTimes;
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.due = new DueTimes(parts);
  }

  /** Creates a schedule, unless one was created under the same key. */
  async create(schedule: Schedule, digest: string): Promise<CreateAnswer> {
    const { keys, settings } = this.#parts;
    const own = keys.tenant(schedule.tenant);
    const { tenantStates } = keys.shard(keys.shardOf(schedule.tenant));
    const { maxSchedulesPerTenant: maxSchedules } = settings.scheduler;
    const [kind, value, isNext] = await this.#run<[CreateAnswer['kind'], never, number?]>(
      'create-schedule',
      [own.schedules, own.scheduleNumbers, own.scheduleCount, own.scheduleKeys, this.due.keyOf(schedule.tenant), own.events, tenantStates],
      [
        this.#options(schedule.tenant, { maxSchedules }),
        schedule.id,
        serializeSchedule(schedule),
        schedule.wakeAt ?? '',
        schedule.key ?? '',
        digest,
        subjectOf(schedule),
      ],
    );
    if (isNext === 1) this.#noteNext(schedule);
    if (kind === 'created') return { kind, number: value };
    if (kind === 'closed') return { kind, state: value };
    return kind === 'full' ? { kind, count: value } : { kind, id: value };
  }

  /** Writes schedules of one tenant. Returns for each whether it was written; false when another writer changed or removed it. */
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
      event === undefined ? '' : subjectOf(schedule),
    ]);
    const written = await this.#run<number[]>(
      'save-schedules',
      [own.schedules, this.due.keyOf(tenant), own.events],
      [this.#options(tenant), scriptJson(items)],
    );
    for (const [position, { schedule }] of changes.entries()) if (written[position] === IS_NEXT) this.#noteNext(schedule);
    return written.map((each) => each > 0);
  }

  #noteNext({ tenant, wakeAt }: Schedule): void {
    const { keys, onNext } = this.#parts;
    if (wakeAt !== null) onNext?.(keys.shardOf(tenant), wakeAt);
  }

  /** Saves, and logs a line for each written change that has an event. Returns the written changes. */
  async saveAndLog(tenant: string, changes: readonly ScheduleChange[]): Promise<ScheduleChange[]> {
    const written = await this.save(tenant, changes);
    const saved = changes.filter((_, position) => written[position]);
    for (const { schedule, event } of saved) {
      if (event === undefined) continue;
      const level = event === 'paused' || event === 'failed' ? 'warn' : 'info';
      const fields = { event: `schedule.${event}`, schedule: schedule.id, tenant, reason: schedule.pausedReason };
      this.#parts.log[level](fields, `a schedule is ${event}`);
    }
    return saved;
  }

  /** False when another writer changed or removed it. `isQuiet`: without an event, for a schedule whose retention is over. */
  async remove(schedule: Schedule, isQuiet = false): Promise<boolean> {
    const { tenant, id, version, key } = schedule;
    const own = this.#parts.keys.tenant(tenant);
    const removed = await this.#run<number>(
      'remove-schedule',
      [own.schedules, own.scheduleNumbers, own.scheduleKeys, this.due.keyOf(tenant), own.events],
      [this.#options(tenant), id, version, key ?? '', subjectOf(schedule), isQuiet ? 1 : ''],
    );
    return removed === 1;
  }

  /** Finds a schedule by its id or its number. Errors: `record.unreadable`. */
  async find(tenant: string, idOrNumber: string): Promise<Schedule | null> {
    const { redis, keys } = this.#parts;
    const own = keys.tenant(tenant);
    const isNumber = /^\d{1,15}$/.test(idOrNumber);
    const [id] = isNumber ? await redis.zrangebyscore(own.scheduleNumbers, idOrNumber, idOrNumber) : [idOrNumber];
    const stored = id === undefined ? null : await redis.hget(own.schedules, id);
    return id === undefined || stored === null ? null : readRecord(id, stored, parseSchedule);
  }

  /** Finds the schedule that was created under this key. Errors: `record.unreadable`. */
  async findByKey(tenant: string, key: string): Promise<Schedule | null> {
    const entry = await this.#parts.redis.hget(this.#parts.keys.tenant(tenant).scheduleKeys, key);
    return entry === null ? null : await this.find(tenant, entry.split(' ')[0] ?? '');
  }

  /** Records in the order of their ids; null for a missing or unreadable record. */
  async read(tenant: string, ids: readonly string[]): Promise<(Schedule | null)[]> {
    if (ids.length === 0) return [];
    const stored = await this.#parts.redis.hmget(this.#parts.keys.tenant(tenant).schedules, ...ids);
    return stored.map((text, position) => (text === null ? null : this.#parseOrLog(tenant, ids[position] ?? '', text)));
  }

  /** All readable records of a tenant, in batches. Unreadable records lose their due time. */
  async *scan(tenant: string): AsyncGenerator<Schedule[]> {
    const { redis, keys } = this.#parts;
    for await (const page of scanHash(redis, keys.tenant(tenant).schedules, { pageSize: BATCH })) {
      const records = page.map(([id, text]) => ({ id, schedule: this.#parseOrLog(tenant, id, text) }));
      await this.due.remove(
        tenant,
        records.filter(({ schedule }) => schedule === null).map(({ id }) => id),
      );
      yield records.map(({ schedule }) => schedule).filter((schedule) => schedule !== null);
    }
  }

  #parseOrLog(tenant: string, id: string, text: string): Schedule | null {
    try {
      return parseSchedule(text);
    } catch (error) {
      const fields = { event: 'schedule.unreadable-record', err: error, tenant, schedule: id };
      this.#parts.log.error(fields, 'the record of a schedule cannot be read');
      return null;
    }
  }

  #options(tenant: string, more: object = {}): string {
    const { keys, settings } = this.#parts;
    return scriptJson({ tenant, channel: keys.shard(keys.shardOf(tenant)).signal, maxEvents: settings.events.maxPerTenant, ...more });
  }

  /** The header of each script documents its reply. */
  async #run<Reply>(name: string, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await runScript(this.#parts.redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
  }
}

/** What an event says about its schedule besides the number, because readers may come when the schedule is gone. */
function subjectOf({ name, agent, session }: Schedule): string {
  return JSON.stringify({ name, agent, session });
}
