import type { ObjectArchive } from '../../files/index.ts';
import { pairs, redisNow } from '../../redis/index.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { keptOf } from './kept-parts.ts';
import { packParts, type PartsOwner, type TaskParts } from './task-parts.ts';

/** Until then an object that was written has its task, or is removed. */
export const UNUSED_MS = 3_600_000;

/** `changed`: the task was opened, removed or archived since it was read. */
export type ArchiveAnswer = 'archived' | 'changed';

/**
 * Moves the long parts of an ended task into an object of the archive: its name is noted first, so that an object of a process that died is removed; then the
 * object is written, and Redis changes last, in one script, if the task is as it was read. Errors: `unavailable.files`.
 */
export async function archiveTask(ledger: Ledger, archive: ObjectArchive, owner: PartsOwner): Promise<ArchiveAnswer> {
  const { tenant, id } = owner;
  const read = await readParts(ledger, owner);
  if (read === null) return 'changed';
  const [packed, questions] = await Promise.all([packParts(owner, read.parts), readQuestionEntries(ledger, owner)]);
  const { archiveDue } = shardKeys(ledger, tenant);
  const member = `${tenant}/${packed.object}`;
  await ledger.redis.zadd(archiveDue, (await redisNow(ledger.redis)) + UNUSED_MS, member);
  await archive.write({ tenant, file: packed.object }, packed.bytes);
  const { body, output, result, journal } = keptOf(read.parts, packed.place, questions);
  const own = ledger.keys.tenant(tenant);
  const answer = await ledger.run(
    'archive-task',
    [own.states, own.bodies, own.outputs, own.results, own.journal(id), archiveDue],
    [id, member, read.fingerprint, body, optional(output), optional(result), ...journal.flat()],
  );
  if (answer === 'archived') return answer;
  await ledger.redis.zadd(archiveDue, 'XX', 0, member);
  return 'changed';
}

/** A text as an argument of a script that may be without it. */
export function optional(text: string | null): string {
  return text === null ? '' : `=${text}`;
}

async function readParts(ledger: Ledger, { tenant, id }: PartsOwner): Promise<{ fingerprint: string; parts: TaskParts } | null> {
  const own = ledger.keys.tenant(tenant);
  const [fingerprint, body, output, result, journal] = (await ledger.run(
    'read-parts',
    [own.states, own.bodies, own.outputs, own.results, own.journal(id)],
    [id],
  )) as [string, string, string | null, string | null, string[]] | [];
  if (fingerprint === undefined || body === undefined) return null;
  return { fingerprint, parts: { body, output: output ?? null, result: result ?? null, journal: pairs(journal ?? []) } };
}

/** Numbers of the entries of a task's journal that are questions to people. */
async function readQuestionEntries({ redis, keys }: Ledger, { tenant, id }: PartsOwner): Promise<ReadonlySet<string>> {
  const members = await redis.zrangebylex(keys.tenant(tenant).questions, `[${id}.`, `(${id}/`);
  return new Set(members.map((member) => member.slice(id.length + 1)));
}
