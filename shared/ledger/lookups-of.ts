import type { TaskBody } from '../tasks/task.ts';

/** What a task is found by, besides its state. The same list takes it out of the index again. */
export function lookupsOf(body: TaskBody): string[] {
  const optional = { session: body.session, schedule: body.scheduleId, correlation: body.correlationId, parent: body.parentTaskId };
  const named = Object.entries(optional).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  return [`agent=${body.agent}`, `source=${body.source}`, ...named];
}
