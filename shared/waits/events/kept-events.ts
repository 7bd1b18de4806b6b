import { z } from 'zod';
import type { Ledger } from '../../ledger/index.ts';
import { runWaitScript } from '../scripts.ts';

/** Something that happened, for the runs that wait for it. */
export interface RunEvent {
  id: string;
  name: string;
  /** JSON. */
  data: unknown;
  /** Whether it goes to all runs that wait for it, or to one. */
  deliver: Delivers;
  /** The id that runs see, where that is another. */
  shownId?: string | undefined;
}

export const DELIVERS = ['all', 'one'] as const;
export type Delivers = (typeof DELIVERS)[number];

/** An event as it is kept. */
interface KeptEvent extends RunEvent {
  /** When it came, ms since the epoch. */
  at: number;
  /** Whether a run has it. */
  isTaken: boolean;
}

const storedSchema = z.object({ name: z.string(), data: z.unknown(), deliver: z.enum(DELIVERS), shownId: z.string().optional() });

/** A run that was suspended in time gets its event also when its process died: another one sees to its wait within this time, ms. */
const GRACE_MS = 60_000;
/** Kept events that are read at once. */
const PAGE = 100;

/** `sent`: it was sent before, and resumed so many. `open`: another call, or one that died, is sending it. */
type KeepAnswer = { kind: 'kept' | 'open' } | { kind: 'sent'; resumed: number };

/** Keeps an event, before it is delivered. */
export async function keepEvent(ledger: Ledger, tenant: string, { id, ...event }: RunEvent): Promise<KeepAnswer> {
  const { keepMs, maxKept } = ledger.settings.events;
  const text = JSON.stringify(event);
  const keep = [keepMs + GRACE_MS, maxKept, ledger.keys.tenant(tenant).runEvent('')];
  const args = [tenant, id, encodeURIComponent(event.name), text, event.deliver, ...keep];
  const [kind, resumed] = await runWaitScript<[KeepAnswer['kind'], string?]>(ledger.redis, 'keep-event', keysOf(ledger, tenant, id), args);
  return kind === 'sent' ? { kind, resumed: Number(resumed) } : { kind };
}

/** Ends the sending of an event. Returns how many runs it resumed, the first answer for all who send it. */
export async function closeEvent(ledger: Ledger, tenant: string, { id, name }: Pick<RunEvent, 'id' | 'name'>): Promise<number> {
  const { events, tasks } = ledger.settings;
  const args = [`${tenant}/${id}`, encodeURIComponent(name), id, events.keepMs + GRACE_MS, tasks.idempotencyMs];
  return Number(await runWaitScript<string>(ledger.redis, 'close-event', keysOf(ledger, tenant, id), args));
}

function keysOf({ keys }: Ledger, tenant: string, id: string): string[] {
  const own = keys.tenant(tenant);
  return [own.runEvent(id), own.keptEvents, own.eventNames, own.sentEvent(id), keys.shard(keys.shardOf(tenant)).openEvents];
}

/** An event that is kept; null when it is not any more. */
export async function readEvent({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, id: string): Promise<KeptEvent | null> {
  const [text = null, at, taken = null] = await redis.hmget(keys.tenant(tenant).runEvent(id), 'event', 'at', 'taken');
  const stored = text === null ? null : storedSchema.safeParse(JSON.parse(text)).data;
  return stored ? { id, ...stored, data: stored.data ?? null, at: Number(at), isTaken: taken !== null } : null;
}

/** The kept events of a name, oldest first, in pages. */
export async function* keptEvents(ledger: Ledger, tenant: string, name: string): AsyncGenerator<KeptEvent[]> {
  const { eventNames } = ledger.keys.tenant(tenant);
  const prefix = `${encodeURIComponent(name)}/`;
  let from = `[${prefix}`;
  for (;;) {
    const members = await ledger.redis.zrangebylex(eventNames, from, `(${prefix}\u00ff`, 'LIMIT', 0, PAGE);
    const events = await Promise.all(members.map(async (member) => await readEvent(ledger, tenant, idIn(member))));
    yield events.filter((event) => event !== null);
    if (members.length < PAGE) return;
    from = `(${members.at(-1)}`;
  }
}

/** `<name>/<ms>/<id>`. */
function idIn(member: string): string {
  return member.split('/').slice(2).join('/');
}

interface OpenEvent {
  tenant: string;
  id: string;
}

/**
 * The event of a shard whose sending began or was taken over first, if that was before `before`, ms by Redis's clock; else null. It counts as taken
 * over at `now`, so that other processes leave it to the caller for a time.
 */
export async function takeOpenEvent(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  shard: number,
  { before, now }: { before: number; now: number },
): Promise<OpenEvent | null> {
  const { openEvents } = keys.shard(shard);
  const [member] = await redis.zrangebyscore(openEvents, '-inf', before, 'LIMIT', 0, 1);
  if (member === undefined) return null;
  await redis.zadd(openEvents, 'XX', now, member);
  const [tenant = '', ...id] = member.split('/');
  return { tenant, id: id.join('/') };
}

/** An open event that is kept no more. */
export async function dropOpenEvent({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, { tenant, id }: OpenEvent): Promise<void> {
  await redis.zrem(keys.shard(keys.shardOf(tenant)).openEvents, `${tenant}/${id}`);
}
