import { scriptJson } from '../../redis/index.ts';
import { type FirstState, type TaskBody, estimatedMs, type Subscriber, SUBSCRIBERS } from '../../tasks/index.ts';
import type { NewTask } from '../accept/new-task.ts';

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

/** The state of a task as the scripts that accept it begin with. */
export function firstState(task: NewTask): FirstState {
  const { body, priority, queue, class: taskClass, lane, sharedLanes } = task;
  return {
    class: taskClass,
    agent: body.agent,
    source: body.source,
    queue,
    priority,
    ...(lane ? { lane: lane.name, laneLimit: lane.limit } : {}),
    // An empty list would come back from the scripts as an object.
    ...(sharedLanes.length === 0 ? {} : { sharedLanes }),
    ...(lane?.order === undefined ? {} : { order: `${lane.order}` }),
    ...(body.deadline === null ? {} : { deadline: body.deadline, estimateMs: estimatedMs(body.requirements) }),
    ...(body.scheduledFor === null ? {} : { notBefore: body.scheduledFor }),
    ...behaviourOf(task),
    maxAttempts: body.execution.maxAttempts,
    timeoutMs: body.execution.timeoutMs,
  };
}

/** How it behaves towards others of its lane, and who hears of its end. What is not so is left out: states are read often. */
function behaviourOf({ body, mode, takesInput, yields, skip }: NewTask): Partial<FirstState> {
  const tell = subscribersOf(body);
  return {
    ...(mode === null ? {} : { mode }),
    ...(body.user === null ? {} : { user: body.user }),
    ...(body.visitor === null ? {} : { visitor: body.visitor }),
    ...(takesInput ? { takesInput } : {}),
    ...(yields ? { yields } : {}),
    // An empty list would come back from the scripts as an object.
    ...(tell.length === 0 ? {} : { tell }),
    ...(skip === null ? {} : { outcome: { kind: 'skipped', reason: skip } }),
  };
}

function subscribersOf({ reply, callbackUrl, scheduleId }: TaskBody): Subscriber[] {
  const wish: Record<Subscriber, unknown> = { reply, callback: callbackUrl, run: scheduleId };
  return SUBSCRIBERS.filter((kind) => wish[kind] !== null);
}
