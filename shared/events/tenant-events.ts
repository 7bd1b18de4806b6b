import { z } from 'zod';
import { type Keys, pairs, type RedisClient } from '../redis/index.ts';

export interface EventStreams {
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

export interface EventsPage {
  entries: TenantEvent[];
  /** The oldest entry that the stream still has, when entries behind the place may be gone; else null. */
  gap: string | null;
}

/** Before every entry. */
const BEFORE_ALL = '0-0';

const ENTRY_ID = /^(\d{1,20})-(\d{1,20})$/;

/** How far somebody has read: up to an entry, or into it. */
export interface ReadTo {
  entry: string;
  /** Whether it is to be read again. */
  isPart: boolean;
}

/** Up to `most` entries from there on, oldest first. */
export async function readTenantEvents(
  { redis, keys }: EventStreams,
  tenant: string,
  { entry, isPart }: ReadTo,
  most: number,
): Promise<EventsPage> {
  const key = keys.tenant(tenant).events;
  // Both at the same moment: what is trimmed in between would be lost unseen.
  const from = isPart ? entry : `(${entry}`;
  const replies = (await redis.multi().xrange(key, from, '+', 'COUNT', most).xrange(key, '-', '+', 'COUNT', 1).exec()) ?? [];
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

/** Whether the entry with the first id came before the one with the second. */
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

/** Whether the stream has let go of any entry. Redis before 7 does not say; then it is taken to have. */
async function isTrimmed(redis: RedisClient, key: string): Promise<boolean> {
  const info = z.array(z.unknown()).parse(await redis.xinfo('STREAM', key));
  const valueOf = (name: string): unknown => info[info.indexOf(name) + 1];
  return !info.includes('entries-added') || Number(valueOf('entries-added')) > Number(valueOf('length'));
}
