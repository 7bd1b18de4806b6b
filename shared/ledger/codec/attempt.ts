import type { AttemptState, StoredAttempt } from '../../tasks/index.ts';

/** The current or last attempt of a task, by its state; `endedAt`, ms since the epoch, of one that has ended. */
export function attemptOf(state: AttemptState, status: StoredAttempt['status'], endedAt?: number): StoredAttempt {
  const { attempt: number, worker = '', daemon, scheduledAt = 0, startedAt = scheduledAt } = state;
  const begun = { number, worker, ...(daemon !== undefined && { daemon }), startedAt, status };
  return endedAt === undefined ? begun : { ...begun, endedAt, ...endOf(state) };
}

/** What is known of it since its end. */
function endOf({
  token,
  error,
  usage: total,
  attemptUsage,
  attemptModel: model,
  attemptNotes: notes,
}: AttemptState): Partial<StoredAttempt> {
  const usage = token === 1 ? total : attemptUsage;
  return { ...(error && { error }), ...(usage && { usage }), ...(model !== undefined && { model }), ...(notes && { notes }) };
}
