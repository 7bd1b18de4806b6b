import { estimatedMs, type FirstState, type TaskBody, type Told, TOLD } from '../tasks/index.ts';
import type { NewTask } from './new-task.ts';

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
  const tell = toldOf(body);
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

function toldOf({ reply, callbackUrl, scheduleId }: TaskBody): Told[] {
  const wish: Record<Told, unknown> = { reply, callback: callbackUrl, run: scheduleId };
  return TOLD.filter((kind) => wish[kind] !== null);
}
