import type { Artifact, Attempt, JournalEntry, LogEntry, TaskWithProgress, TimelineStep, Why } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';

/** Everything that the page of a task shows, except the output while it is written. */
export interface TaskParts {
  readonly task: TaskWithProgress;
  readonly attempts: Attempt[];
  readonly steps: TimelineStep[];
  readonly journal: JournalEntry[];
  readonly log: LogEntry[];
  readonly artifacts: Artifact[];
  readonly why: Why;
}

export async function readTaskParts(taskRef: TaskRef, signal: AbortSignal): Promise<TaskParts> {
  const options = { ...toTask(taskRef), signal };
  const [task, attempts, steps, journal, log, artifacts, why] = await Promise.all([
    answerOf(api.GET('/v1/tasks/{id}', options)),
    itemsOf(api.GET('/v1/tasks/{id}/attempts', options)),
    itemsOf(api.GET('/v1/tasks/{id}/timeline', options)),
    itemsOf(api.GET('/v1/tasks/{id}/journal', options)),
    itemsOf(api.GET('/v1/tasks/{id}/log', options)),
    itemsOf(api.GET('/v1/tasks/{id}/artifacts', options)),
    answerOf(api.GET('/v1/tasks/{id}/why', options)),
  ]);
  return { task, attempts, steps, journal, log, artifacts, why };
}
