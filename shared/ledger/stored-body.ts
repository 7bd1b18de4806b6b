import { scriptJson } from '../redis/index.ts';
import type { FirstState, TaskBody } from '../tasks/index.ts';
import { firstState } from './first-state.ts';
import type { NewTask } from './new-task.ts';

/** A body as its record has it: with the state that the task begins with. */
export interface StoredBody extends TaskBody {
  first: FirstState;
}

/** What is null in a body is left out where it is stored: texts that are half as long cost half as much on their way. */
const NOTHING = {
  channel: null,
  session: null,
  context: null,
  metadata: null,
  parentTaskId: null,
  correlationId: null,
  scheduleId: null,
  sourceId: null,
  trigger: null,
  system: null,
  deadline: null,
  sla: null,
  scheduledFor: null,
  requirements: null,
  callbackUrl: null,
  user: null,
  visitor: null,
  reply: null,
} satisfies Partial<TaskBody>;

/** Where a body's head ends. No text of the head can hold it, because quotes in texts are escaped. */
export const HEAD_ENDS = ',"input":';

/**
 * With `first` first and then the id: by that the scripts find where it ends, and need not read what the task's sender wrote, which
 * may be long, and deeper than they can read. What says whose task it is comes before its input, for those who read no further.
 */
export function bodyText(task: NewTask): string {
  const { id, agent, source, session, scheduleId } = task.body;
  const stored: Record<string, unknown> = { first: firstState(task), id, agent, source };
  if (session !== null) stored['session'] = session;
  if (scheduleId !== null) stored['scheduleId'] = scheduleId;
  stored['input'] = task.body.input;
  for (const [name, value] of Object.entries(task.body)) if (value !== null) stored[name] = value;
  return scriptJson(stored);
}

export function parseBody(text: string): StoredBody {
  return { ...NOTHING, ...(JSON.parse(text) as StoredBody) };
}
