import { readRecords, redisNow, scanHash } from '../../redis/index.ts';
import { shardKeys } from '../context.ts';
import { parseBody } from '../codec/body.ts';
import type { Ledger } from '../ledger.ts';
import { optional, UNUSED_MS } from './archive-task.ts';
import { loadParts } from './read-archived.ts';
import { parsePlace, type PartsOwner } from './task-parts.ts';

/** Gives an archived task its parts back, so that it can be opened; its object is removed later. Errors: `unavailable.files`, `record.unreadable`. */
export async function restoreParts(ledger: Ledger, owner: PartsOwner): Promise<void> {
  const { tenant, id } = owner;
  const own = ledger.keys.tenant(tenant);
  const text = await ledger.redis.hget(own.bodies, id);
  const place = text === null ? undefined : parseBody(text).archived;
  if (place === undefined) return;
  const parts = await loadParts(ledger, owner, place);
  // The caller looks again: another process restored them.
  if (parts === null) return;
  const { body, output, result, journal } = parts;
  // Not at once: a Redis that loses its last second points to the object again.
  const dueAt = (await redisNow(ledger.redis)) + UNUSED_MS;
  await ledger.run(
    'restore-parts',
    [own.bodies, own.outputs, own.results, own.journal(id), shardKeys(ledger, tenant).archiveDue],
    [id, `${tenant}/${parsePlace(place).object}`, place, dueAt, body, optional(output), optional(result), ...journal.flat()],
  );
}

/** Has the objects of all tasks of a tenant removed, before its data is. */
export async function releaseObjects({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string): Promise<void> {
  for await (const page of scanHash(redis, keys.tenant(tenant).bodies)) {
    const { items } = readRecords(page, (text) => parseBody(text).archived);
    const members = items.flatMap((place) => (place === undefined ? [] : ['0', `${tenant}/${parsePlace(place).object}`]));
    if (members.length > 0) await redis.zadd(shardKeys({ keys }, tenant).archiveDue, ...members);
  }
}
