import type { AgentDefinition, Settings, Source, TenantLimits } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { type Ledger, laneOfAgent, type NewTask } from '../../ledger/index.ts';
import {
  capClass,
  childTraceparent,
  CLASS_OF,
  defaultPriority,
  estimatedMs,
  newTaskId,
  type PriorityHints,
  priorityNumber,
  queueFor,
  type ResolvedExecution,
  type SharedLane,
  type TaskBody,
} from '../../tasks/index.ts';
import { checkRequest } from './check-request.ts';
import { type Descent, descentOf, type Parentage } from './join-tree.ts';
import { type AcceptRequest, digestOf } from './request.ts';

/**
 * Makes the task of a request, with every default in place. Errors: `request.invalid`, `request.too-large`.
 */
export function buildTask(
  asked: AcceptRequest,
  definition: AgentDefinition,
  { settings, limitsOf }: Pick<Ledger, 'settings' | 'limitsOf'>,
  parentage: Parentage | null,
): NewTask {
  checkRequest(asked, settings);
  const request = withNeedsOf(definition, asked);
  const source = request.source ?? (request.parentTaskId === undefined ? 'api' : 'delegation');
  const body = { ...newBody(request, source, resolveExecution(request, definition, settings, source)), ...descentOf(request, parentage) };
  return {
    body,
    ...rankOf(request, definition, { source, parentPriority: parentage?.priority }),
    ...(request.skip
      ? { lane: null, sharedLanes: [] }
      : lanesOf(request, definition, { settings, limits: limitsOf(request.tenant) }, source)),
    idempotency: request.idempotencyKey === undefined ? null : { key: request.idempotencyKey, digest: digestOf(asked) },
    mode: request.mode ?? null,
    takesInput: takesInput(definition, request.context),
    yields: settings.retries[source].lane === 'yield',
    slaLeadMs: settings.dispatch.slaLeadMs,
    skip: request.skip?.reason ?? null,
  };
}

type Rank = Pick<NewTask, 'priority' | 'queue' | 'class' | 'rateClass'>;

/** What an agent of kind `daemon` needs, each of its tasks requires. */
function withNeedsOf(definition: AgentDefinition, request: AcceptRequest): AcceptRequest {
  if (definition.kind !== 'daemon' || !definition.capabilities?.length) return request;
  const capabilities = [...new Set([...definition.capabilities, ...(request.requirements?.capabilities ?? [])])];
  return { ...request, requirements: { ...request.requirements, capabilities } };
}

/** Whether only some machines can run it, so that somebody has to choose one: the hub. */
function isRemote({ kind }: AgentDefinition, { requirements: { capabilities = [], targetDaemon } = {} }: AcceptRequest): boolean {
  return kind === 'daemon' || capabilities.length > 0 || targetDaemon !== undefined;
}

interface Origins {
  source: Source;
  parentPriority: number | undefined;
}

function rankOf(request: AcceptRequest, definition: AgentDefinition, { source, parentPriority }: Origins): Rank {
  const priority = request.priority ?? defaultPriority(hintsOf(request, source, parentPriority));
  const number = priorityNumber(priority);
  return {
    priority: number,
    queue: queueFor(source, priority, isRemote(definition, request)),
    class: capClass(source, number),
    rateClass: CLASS_OF[source],
  };
}

function hintsOf(
  { channel, context, deadline, requirements }: AcceptRequest,
  source: Source,
  parentPriority: number | undefined,
): PriorityHints {
  const eventType = context?.['event_type'];
  return {
    source,
    channel: channel ?? null,
    ...(parentPriority === undefined ? {} : { parentPriority }),
    ...(typeof eventType === 'string' ? { eventType } : {}),
    ...(deadline === undefined ? {} : { deadlineWithin: (Date.parse(deadline) - Date.now()) / estimatedMs(requirements ?? null) }),
  };
}

function newBody(request: AcceptRequest, source: Source, execution: ResolvedExecution): Omit<TaskBody, keyof Descent> {
  return {
    id: request.id ?? newTaskId(),
    tenant: request.tenant,
    agent: request.agent,
    source,
    input: request.input,
    system: request.system ?? null,
    ...conversationOf(request),
    context: request.context ?? null,
    metadata: request.metadata ?? null,
    ...originOf(request),
    deadline: timeOf(request.deadline),
    sla: timeOf(request.sla),
    scheduledFor: timeOf(request.scheduledFor),
    requirements: request.requirements ?? null,
    execution,
    callbackUrl: request.callbackUrl ?? null,
    // Uploads are looked up, and bound to the task, once all else of it is known.
    attachments: null,
    traceparent: childTraceparent(request.traceparent),
  };
}

type Origin = Pick<TaskBody, 'parentTaskId' | 'correlationId' | 'scheduleId' | 'sourceId' | 'trigger'>;

function originOf({ parentTaskId, correlationId, scheduleId, sourceId, trigger }: AcceptRequest): Origin {
  return {
    parentTaskId: parentTaskId ?? null,
    correlationId: correlationId ?? null,
    scheduleId: scheduleId ?? null,
    sourceId: sourceId ?? null,
    trigger: trigger ?? null,
  };
}

type Conversation = Pick<TaskBody, 'channel' | 'session' | 'user' | 'visitor' | 'reply'>;

function conversationOf({ channel, session, user, visitor, reply }: AcceptRequest): Conversation {
  return {
    channel: channel ?? null,
    session: session ?? null,
    user: user ?? null,
    visitor: visitor ?? null,
    reply: reply ?? null,
  };
}

/** The most specific setting counts: the task's, then its agent's, then its source's. */
function resolveExecution(request: AcceptRequest, definition: AgentDefinition, settings: Settings, source: Source): ResolvedExecution {
  const policy = settings.retries[source];
  const own = request.execution ?? {};
  return {
    timeoutMs: own.timeoutMs ?? definition.timeoutMs ?? settings.tasks.timeoutMs,
    maxAttempts: own.maxAttempts ?? definition.maxAttempts ?? policy.maxAttempts,
    retryDelayMs: own.retryDelayMs ?? definition.retryDelayMs ?? policy.retryDelayMs,
    retryBackoff: own.retryBackoff ?? definition.retryBackoff ?? policy.retryBackoff,
    ...deadlineRule([own, definition, settings.tasks]),
  };
}

/** Whether the task is aborted at its deadline, by the most specific setting. */
function deadlineRule(rules: readonly { deadlineAborts?: boolean | undefined }[]): Pick<ResolvedExecution, 'deadlineAborts'> {
  const first = rules.find(({ deadlineAborts }) => deadlineAborts !== undefined);
  return first?.deadlineAborts ? { deadlineAborts: true } : {};
}

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

/**
 * Whether messages may go into the runs of this agent's tasks. A task of `echo` refuses it by `noInput` in its context.
 */
function takesInput(definition: AgentDefinition, context: Readonly<Record<string, unknown>> | undefined): boolean {
  switch (definition.kind) {
    case 'echo':
      return !context?.['noInput'];
    case 'openai':
      return true;
    case 'function':
    case 'command':
    case 'daemon':
      return definition.takesInput ?? false;
    case 'http':
      return false;
  }
}

interface LaneRules {
  settings: Settings;
  /** Of its tenant; null for none. */
  limits: TenantLimits | null;
}

/**
 * The lanes of a task: its own, which is its session's or named by its producer, and the shared ones of its agent and its
 * source. It runs when it holds all of them.
 * Errors: `request.invalid` when its agent, made by API, names a lane that the configuration does not have.
 */
function lanesOf(
  request: AcceptRequest,
  definition: AgentDefinition,
  { settings, limits }: LaneRules,
  source: Source,
): Pick<NewTask, 'lane' | 'sharedLanes'> {
  const own = request.session === undefined ? request.lane : { name: sessionLane(request.session), limit: 1 };
  const names = new Set([definition.lane, settings.retries[source].sharedLane].filter((name) => name !== undefined));
  return {
    lane: own ? { ...own, ...(request.order === undefined ? {} : { order: request.order }) } : null,
    sharedLanes: [...names].map((name) => sharedLane(request.agent, name, settings)).concat(agentLane(request.agent, definition, limits)),
  };
}

/** The lane that bounds how many tasks of an agent run at once; none when nothing bounds them. */
function agentLane(agent: string, { maxRunning }: AgentDefinition, limits: TenantLimits | null): SharedLane[] {
  const own = limits && Object.hasOwn(limits.runningByAgent, agent) ? limits.runningByAgent[agent] : undefined;
  const limit = own ?? maxRunning;
  return limit === undefined ? [] : [{ name: laneOfAgent(agent), limit }];
}

function sharedLane(agent: string, name: string, { lanes }: Settings): SharedLane {
  const lane = Object.hasOwn(lanes, name) ? lanes[name] : undefined;
  if (!lane) throw new MusterError('request.invalid', `The agent "${agent}" is in the lane "${name}", which is not configured`);
  return { name, limit: lane.limit };
}

/** The lane of a session: its tasks run one at a time. */
export function sessionLane(id: string): string {
  return `session:${id}`;
}
