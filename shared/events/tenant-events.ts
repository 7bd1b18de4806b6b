import { z } from 'zod';
import type { Settings } from '../config/index.ts';
import { type Keys, pairs, type RedisClient } from '../redis/index.ts';
import { DEFAULT_TENANT, writeOfTenant } from '../tenants/index.ts';

interface EventStreams {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** An entry of a tenant's event stream: what happened, and to whom. */
export interface TenantEvent {
  /** Orders the entries: `<ms since the epoch>-<number>`. */
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** `task.started`, `schedule.paused`, ... */
  event: string;
  /** The tasks it happened to; empty for what concerns none. */
  tasks: string[];
  /** What else the entry says. */
  fields: Readonly<Record<string, string>>;
}

interface EventsPage {
  entries: TenantEvent[];
  /** The oldest entry that the stream still has, when entries after the position may be gone; else null. */
  gap: string | null;
}

/** Before every entry. */
const BEFORE_ALL = '0-0';

const ENTRY_ID = /^(\d{1,20})-(\d{1,20})$/;

/** How far a reader has read: up to an entry, or into it. */
interface ReadTo {
  entry: string;
  /** Whether it is to be read again. */
  isPart: boolean;
}

/** Up to `limit` entries from there on, oldest first. */
export async function readTenantEvents(
  { redis, keys }: EventStreams,
  tenant: string,
  { entry, isPart }: ReadTo,
  limit: number,
): Promise<EventsPage> {
  const key = keys.tenant(tenant).events;
  // Both at the same moment: what is trimmed in between would be lost unseen.
  const from = isPart ? entry : `(${entry}`;
  const replies = (await redis.multi().xrange(key, from, '+', 'COUNT', limit).xrange(key, '-', '+', 'COUNT', 1).exec()) ?? [];
  const [found = [], [first] = []] = replies.map(([error, reply]) => {
    if (error) throw error;
    return entriesSchema.parse(reply);
  });
  const oldest = first?.[0] ?? null;
  const isBehind = oldest !== null && isEntryBefore(entry, oldest);
  return {
    entries: found.map(([id, fields]) => readEvent(id, fields)),
    gap: isBehind && (await isTrimmed(redis, key)) ? oldest : null,
  };
}

const entriesSchema = z.array(z.tuple([z.string(), z.array(z.string())]));

/** The id of the newest entry. */
export async function newestTenantEvent({ redis, keys }: EventStreams, tenant: string): Promise<string> {
  const [[newest] = [BEFORE_ALL]] = await redis.xrevrange(keys.tenant(tenant).events, '+', '-', 'COUNT', 1);
  return newest;
}

/** Whether the entry with the first id came before the entry with the second. */
export function isEntryBefore(first: string, second: string): boolean {
  const [a, b] = [parseId(first), parseId(second)];
  return a.ms < b.ms || (a.ms === b.ms && a.number < b.number);
}

/** Numbers may be longer than a double holds. */
function parseId(id: string): { ms: bigint; number: bigint } {
  const [, ms = '0', number = '0'] = ENTRY_ID.exec(id) ?? [];
  return { ms: BigInt(ms), number: BigInt(number) };
}

function readEvent(id: string, flat: readonly string[]): TenantEvent {
  const { event = '', tasks = '', ...rest } = Object.fromEntries(pairs(flat));
  return { id, at: Number(id.split('-')[0]), event, tasks: tasks === '' ? [] : tasks.split(','), fields: rest };
}

/** Whether the stream has dropped any entry. Redis before 7 does not say; then it counts as dropped. */
async function isTrimmed(redis: RedisClient, key: string): Promise<boolean> {
  const info = z.array(z.unknown()).parse(await redis.xinfo('STREAM', key));
  const valueOf = (name: string): unknown => info[info.indexOf(name) + 1];
  return !info.includes('entries-added') || Number(valueOf('entries-added')) > Number(valueOf('length'));
}

/**
 * What happens to workers and queues. `worker.lost`: its heartbeat stopped or a lease of its ran out. `needs_attention`: tasks wait and
 * nothing takes them; `recovered` ends it. `backpressure.*`: the level of the fleet's load.
 */
export type FleetEvent =
  | 'worker.started'
  | 'worker.draining'
  | 'worker.stopped'
  | 'worker.lost'
  | 'needs_attention'
  | 'recovered'
  | 'backpressure.warning'
  | 'backpressure.critical'
  | 'backpressure.cleared'
  | 'finding.opened'
  | 'finding.resolved';

/** An event of the fleet, with what it is about. */
export interface FleetEventFields {
  event: FleetEvent;
  worker?: string;
  queue?: string;
  reason?: string;
  /** Of the load: its level, the tasks that have not ended, the estimated wait in ms, -1 when unknown, `slowDown`, and what there is too little of. */
  level?: string;
  depth?: number;
  wait?: number;
  slow?: number;
  bound?: string;
  /** Of a finding, JSON. */
  about?: string;
}

interface FleetEventParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** A worker with many attempts is reported as lost once in this time. */
const LOST_EVENT_MS = 60_000;

/**
 * Publishes what happened to the fleet in the event stream of the installation's own tenant, for its operators. Best effort: never
 * rejects, and an event that cannot be written is only in the log.
 */
export async function publishFleetEvent({ redis, keys, settings }: FleetEventParts, { event, ...about }: FleetEventFields): Promise<void> {
  try {
    const { worker } = about;
    const isLoss = event === 'worker.lost' && worker !== undefined;
    if (isLoss && (await redis.set(keys.fleet.workerLost(worker), '', 'PX', LOST_EVENT_MS, 'NX')) === null) return;
    const { maxPerTenant } = settings.events;
    const fields = ['event', `fleet.${event}`, ...Object.entries(about).flat()];
    await redis.xadd(keys.tenant(DEFAULT_TENANT).events, 'MAXLEN', '~', maxPerTenant, '*', ...fields);
    await redis.publish(keys.shard(keys.shardOf(DEFAULT_TENANT)).signal, `${DEFAULT_TENANT}//fleet.${event}`);
  } catch {
    // The caller logs it too.
  }
}

/** A daemon of a tenant that connected after it was offline, or whose connection ended. */
interface DaemonEventFields {
  event: 'daemon.connected' | 'daemon.disconnected';
  daemon: string;
  name: string;
  /** Only tasks of this user reach it; null for tasks of all. */
  user: string | null;
}

/** Publishes it in the tenant's event stream. Best effort, as for the fleet's events. */
export async function publishDaemonEvent(ports: FleetEventParts, tenant: string, { event, ...about }: DaemonEventFields): Promise<void> {
  await publishTenantEvent(ports, tenant, event, about);
}

/** Best effort: never rejects. */
async function publishTenantEvent({ redis, keys, settings }: FleetEventParts, tenant: string, event: string, about: object): Promise<void> {
  try {
    const fields = ['event', event, 'about', JSON.stringify(about)];
    const command = ['XADD', 'MAXLEN', '~', settings.events.maxPerTenant, '*', ...fields] as const;
    await writeOfTenant({ redis, keys }, { tenant, key: keys.tenant(tenant).events, command });
    await redis.publish(keys.shard(keys.shardOf(tenant)).signal, `${tenant}//${event}`);
  } catch {
    // The caller logs it too, and a tenant that has ended has no readers.
  }
}

/** People are reminded of an open question, or of all that are open. */
export type QuestionEventFields = { event: 'question.reminded' | 'question.digest' } & Record<string, unknown>;

/** Publishes it in the tenant's event stream. Best effort, as above. */
export async function publishQuestionEvent(
  ports: FleetEventParts,
  tenant: string,
  { event, ...about }: QuestionEventFields,
): Promise<void> {
  await publishTenantEvent(ports, tenant, event, about);
}

/** A finding that is new, or resolved. */
interface FindingEventFields {
  event: 'finding.opened' | 'finding.resolved';
  /** What is known of it. */
  about: object;
}

/** Publishes it to the tenant that it is of; null for the installation, whose operators have it as `fleet.finding.*`. Best effort, as above. */
export async function publishFindingEvent(
  ports: FleetEventParts,
  tenant: string | null,
  { event, about }: FindingEventFields,
): Promise<void> {
  if (tenant === null) await publishFleetEvent(ports, { event, about: JSON.stringify(about) });
  else await publishTenantEvent(ports, tenant, event, about);
}
