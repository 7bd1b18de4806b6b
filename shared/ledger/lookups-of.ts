import type { TaskBody } from '../tasks/index.ts';
import { lookupName } from './lookups/lookup.ts';

/** What a task is found by, besides its state. The same list takes it out of the index again. */
export function lookupsOf(body: TaskBody): string[] {
  const optional = {
    session: body.session,
    schedule: body.scheduleId,
    correlation: body.correlationId,
    parent: body.parentTaskId,
    sourceId: body.sourceId,
  };
  const named = Object.entries(optional).flatMap(([name, value]) => (value === null ? [] : [lookupName(name, value)]));
  return [lookupName('agent', body.agent), lookupName('source', body.source), ...named];
}
