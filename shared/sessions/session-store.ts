import { z } from 'zod';
import { QUEUE_MODES, type QueueMode } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { pairs, redisNow } from '../redis/index.ts';
import { writeOfTenant } from '../tenants/index.ts';

/** What people chose for a session. It is forgotten `sessions.retentionMs` after the session was last used. */
export interface SessionChoices {
  /** Instead of its surface's mode; null without a choice. */
  mode: QueueMode | null;
  /** Turns accepted before this are not part of its transcript, ms by Redis's clock; null for all. */
  transcriptFrom: number | null;
  /** Where its last message came from; null for web chat and for an unused session. */
  surface: string | null;
}

/** A choice that a later version does not know is none. */
const choicesSchema = z.object({
  mode: z.enum(QUEUE_MODES).nullable().catch(null),
  transcriptFrom: z.coerce.number().int().nullable().catch(null),
  surface: z.string().nullable().catch(null),
});

export async function readChoices(ledger: Ledger, tenant: string, id: string): Promise<SessionChoices> {
  const [mode, transcriptFrom, surface] = await ledger.redis.hmget(
    ledger.keys.tenant(tenant).session(id),
    'mode',
    'transcriptFrom',
    'surface',
  );
  return choicesSchema.parse({ mode, transcriptFrom, surface });
}

/** Reads the choices of a session that is used now, and prolongs them. */
export async function touchChoices(ledger: Ledger, tenant: string, id: string): Promise<SessionChoices> {
  const [choices] = await Promise.all([readChoices(ledger, tenant, id), prolongChoices(ledger, tenant, id)]);
  return choices;
}

/** Sets a session's mode; null gives it that of its surface again. Every process follows with its next message. */
export async function setMode(ledger: Ledger, tenant: string, id: string, mode: QueueMode | null): Promise<void> {
  if (mode === null) await ledger.redis.hdel(ledger.keys.tenant(tenant).session(id), 'mode');
  else await writeChoice(ledger, { tenant, id }, 'mode', mode);
}

/** Remembers where a session's messages come from, for what is shown of it. */
export async function setSurface(ledger: Ledger, tenant: string, id: string, surface: string): Promise<void> {
  await writeChoice(ledger, { tenant, id }, 'surface', surface);
}

/** The session's transcript begins with what is accepted from now on. */
export async function beginTranscript(ledger: Ledger, tenant: string, id: string): Promise<void> {
  // Tasks are dated by the same clock, and one of this same millisecond came before.
  const from = (await redisNow(ledger.redis)) + 1;
  await writeChoice(ledger, { tenant, id }, 'transcriptFrom', String(from));
}

/** Since when the transcript of a session counts, ms since the epoch; 0 where all of it does. */
export async function readTranscriptStart(ledger: Ledger, tenant: string, id: string): Promise<number> {
  return (await readChoices(ledger, tenant, id)).transcriptFrom ?? 0;
}

async function writeChoice(
  ledger: Ledger,
  { tenant, id }: { tenant: string; id: string },
  field: keyof SessionChoices,
  value: string,
): Promise<void> {
  const key = ledger.keys.tenant(tenant).session(id);
  await writeOfTenant(ledger, { tenant, key, command: ['HSET', field, value], keepMs: ledger.settings.sessions.retentionMs });
  await boundRecords(ledger, tenant, id);
}

async function prolongChoices(ledger: Ledger, tenant: string, id: string): Promise<void> {
  const own = ledger.keys.tenant(tenant);
  await Promise.all([
    ledger.redis.pexpire(own.session(id), ledger.settings.sessions.retentionMs),
    ledger.redis.zadd(own.sessionRecords, 'XX', Date.now(), id),
  ]);
}

/** Records dropped for each that is written: more than one where the bound was lowered. */
const MAX_DROPPED = 100;

/** Callers choose the ids, and invented ones must not fill Redis with choices. */
async function boundRecords(ledger: Ledger, tenant: string, id: string): Promise<void> {
  const { redis, settings } = ledger;
  const own = ledger.keys.tenant(tenant);
  const command = ['ZADD', String(Date.now()), id] as const;
  await writeOfTenant(ledger, { tenant, key: own.sessionRecords, command, keepMs: settings.sessions.retentionMs });
  const over = (await redis.zcard(own.sessionRecords)) - settings.sessions.maxRecords;
  if (over <= 0) return;
  const dropped = pairs(await redis.zpopmin(own.sessionRecords, Math.min(over, MAX_DROPPED)));
  await redis.del(...dropped.map(([oldest]) => own.session(oldest)));
}

/** The name of a session where a hint names a task. Task ids hold no `~`, and this holds neither `/` nor `,`. */
export function sessionTopic(id: string): string {
  return `~${encodeURIComponent(id)}`;
}

/** Notifies the watchers of a session that it has something new. A lost hint only delays them, so no caller waits for it. */
export function notifySession({ redis, keys }: Ledger, tenant: string, id: string): void {
  const { signal } = keys.shard(keys.shardOf(tenant));
  redis.publish(signal, `${tenant}/${sessionTopic(id)}/session.changed`).catch(() => undefined);
}
