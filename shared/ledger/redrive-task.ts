import type { TaskStatus } from '../tasks/index.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { runMoving } from './run-moving.ts';
import { movingKeys, type TaskPlace } from './task-keys.ts';

export type RedriveAnswer = { kind: 'reopened' | 'refused'; status: TaskStatus } | { kind: 'unknown' };

/** Opens a permanently failed task again, with all its attempts anew. Its ticket goes to `onGranted`. */
export async function redriveTask(ledger: Ledger, place: TaskPlace): Promise<RedriveAnswer> {
  const [kind, status] = (await runMoving(
    ledger,
    place.tenant,
    'redrive-task',
    [...movingKeys(ledger, place), ledger.keys.tenant(place.tenant).attempts],
    [JSON.stringify(bookOptions(ledger, place.tenant)), place.id],
  )) as [RedriveAnswer['kind'], TaskStatus];
  return kind === 'unknown' ? { kind } : { kind, status };
}
