import { scriptJson } from '../../redis/index.ts';
import { type FirstState, type TaskBody, estimatedMs, type Subscriber, SUBSCRIBERS } from '../../tasks/index.ts';
import type { NewTask } from '../accept/new-task.ts';

/** A body as it is stored: with the state that the task begins with. */
export interface StoredBody extends TaskBody {
  first: FirstState;
  /** Of an ended task whose long parts are in the archive, where they are: what is here of them is their beginnings. */
  archived?: string;
}

/** What a stored body leaves out when it is null: texts that are half as long cost half as much to send. */
export const ABSENT_FIELDS = {
  channel: null,
  session: null,
  context: null,
  metadata: null,
  parentTaskId: null,
  rootTaskId: null,
  depth: null,
  keyId: null,
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
  attachments: null,
  request: null,
  user: null,
  isUserClaimed: null,
  visitor: null,
  reply: null,
} satisfies Partial<TaskBody>;

/**
 * How a body is laid out, for the scripts: it begins with `first`, what the task began with, then its id. Everything before the input
 * is its head. No text in these parts can hold such a mark, because quotes in texts are escaped.
 */
export const BODY_LAYOUT = { first: '{"first":', id: ',"id":"', input: ',"input":', parent: ',"parentTaskId":"' } as const;

/**
 * The scripts read `first`, the head or the beginning of the input by the layout, and never the whole body: what the task's sender
 * wrote may be long, and deeper than they can read.
 */
export function bodyText({ body }: NewTask, first: FirstState): string {
  const fields: Record<string, unknown> = { first, id: body.id, ...headOf(body), input: body.input };
  for (const name of OWN_FIELDS) {
    if (body[name] !== null) fields[name] = body[name];
  }
  return scriptJson(Object.assign(fields, { traceparent: body.traceparent, tenant: body.tenant, execution: body.execution }));
}

function headOf(body: TaskBody): Record<HeadField, unknown> {
  return {
    agent: body.agent,
    source: body.source,
    session: given(body.session),
    scheduleId: given(body.scheduleId),
    parentTaskId: given(body.parentTaskId),
    rootTaskId: given(body.rootTaskId),
    depth: given(body.depth),
    keyId: given(body.keyId),
  };
}

/** Fields of a body that are a task's own, where they are not null. */
const OWN_FIELDS = [
  'system',
  'channel',
  'user',
  'isUserClaimed',
  'visitor',
  'reply',
  'context',
  'metadata',
  'correlationId',
  'sourceId',
  'trigger',
  'deadline',
  'sla',
  'scheduledFor',
  'requirements',
  'callbackUrl',
  'attachments',
  'request',
] as const satisfies (keyof TaskBody)[];

/** All fields that are in no other part, so that none is left out. `untrusted` is in `first`. */
type HeadField = Exclude<
  keyof TaskBody,
  (typeof OWN_FIELDS)[number] | 'id' | 'input' | 'tenant' | 'execution' | 'traceparent' | 'untrusted'
>;

function given<Value>(value: Value | null): Value | undefined {
  return value ?? undefined;
}

/** Whether words are untrusted when nothing else says so: by the source and the visitor of their task. */
export function isUntrustedBy(source: TaskBody['source'], visitor: string | null): boolean {
  return source === 'webhook' || visitor !== null;
}

export function parseBody(text: string): StoredBody {
  const body = { ...ABSENT_FIELDS, ...(JSON.parse(text) as StoredBody) };
  const { source, first } = body;
  body.untrusted = first?.untrusted ?? isUntrustedBy(source, first?.visitor ?? body.visitor);
  return body;
}

/** What the state of a task begins with, for the scripts that accept it. */
export function firstState(task: NewTask, costMs?: number): FirstState {
  const { body, priority, queue, class: taskClass, lane, sharedLanes, slaLeadMs } = task;
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
    // The scripts write it in digits, so an sla of long ago ranks from 1970.
    ...(body.sla === null ? {} : { sla: body.sla, ranksFrom: Math.max(0, body.sla - (slaLeadMs ?? 0)) }),
    ...(body.scheduledFor === null ? {} : { notBefore: body.scheduledFor }),
    ...(costMs === undefined ? {} : { costMs }),
    ...behaviorOf(task),
    maxAttempts: body.execution.maxAttempts,
    timeoutMs: body.execution.timeoutMs,
  };
}

/** How it behaves towards others of its lane, and the subscribers of its end. What is absent is left out: states are read often. */
function behaviorOf(task: NewTask): Partial<FirstState> {
  const { body, mode, takesInput, yields, skip, awaitedBy } = task;
  const tell = SUBSCRIBERS.filter((kind) => isSubscribed(task, kind));
  return {
    ...(mode === null ? {} : { mode }),
    ...(body.user === null ? {} : { user: body.user }),
    ...(body.visitor === null ? {} : { visitor: body.visitor }),
    ...(body.untrusted === isUntrustedBy(body.source, body.visitor) ? {} : { untrusted: body.untrusted }),
    ...(takesInput ? { takesInput } : {}),
    ...(yields ? { yields } : {}),
    ...(awaitedBy === undefined ? {} : { awaitedBy }),
    // An empty list would come back from the scripts as an object.
    ...(tell.length === 0 ? {} : { tell }),
    ...(skip === null ? {} : { outcome: { kind: 'skipped', reason: skip } }),
  };
}

function isSubscribed({ body, parentWaits }: NewTask, kind: Subscriber): boolean {
  switch (kind) {
    case 'reply':
      return body.reply !== null;
    case 'callback':
      return body.callbackUrl !== null;
    case 'run':
      return body.scheduleId !== null;
    case 'parent':
      return parentWaits === true;
  }
}
