import { MusterError } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';
import { parsePlace, type PartsOwner, type TaskParts, unpackParts } from './task-parts.ts';

export type ArchivePorts = Pick<Ledger, 'archive'>;

/** Reads of a task that changes between two of them. */
const MAX_TRIES = 5;
const RETRY_MS = 5000;

/**
 * Reads something of an archived task with its parts. `read` reads what Redis has of it, again where its object is gone meanwhile, because the task was
 * opened or forgotten; `placeOf` says where its parts are, and `complete` adds them.
 * Errors: `unavailable.files`, `record.unreadable`.
 */
export async function withParts<T>(
  ports: ArchivePorts,
  owner: PartsOwner,
  how: { read: () => Promise<T>; placeOf: (found: T) => string | undefined; complete: (found: T, parts: TaskParts) => T },
): Promise<T> {
  let found = await how.read();
  for (let tries = 0; ; tries += 1) {
    const place = how.placeOf(found);
    if (place === undefined) return found;
    const parts = await loadParts(ports, owner, place);
    if (parts !== null) return how.complete(found, parts);
    found = await how.read();
    if (tries >= MAX_TRIES || how.placeOf(found) === place) throw missing(owner);
  }
}

/** The parts of a task at a place; null where there is no such object. Errors: `unavailable.files`, `record.unreadable`. */
export async function loadParts({ archive }: ArchivePorts, owner: PartsOwner, place: string): Promise<TaskParts | null> {
  if (archive === undefined)
    throw new MusterError('unavailable.files', `Task ${owner.id} is in the archive, and this process has none: set \`archive\` as it was`, {
      details: { id: owner.id },
      retryAfterMs: RETRY_MS,
    });
  const { object, bytes } = parsePlace(place);
  const found = await archive.read({ tenant: owner.tenant, file: object }, bytes);
  return found === null ? null : await unpackParts(owner, place, found);
}

function missing({ id }: PartsOwner): MusterError {
  return new MusterError(
    'unavailable.files',
    `The object of task ${id} is not in the archive as this process sees it: mount one volume, or use S3`,
    {
      details: { id },
      retryAfterMs: RETRY_MS,
    },
  );
}
