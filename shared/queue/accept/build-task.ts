import { createHash } from 'node:crypto';
import type { AgentDefinition, Settings, Source } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { NewTask } from '../../ledger/index.ts';
import {
  canonicalJson,
  capClass,
  childTraceparent,
  CLASS_OF,
  defaultPriority,
  estimatedMs,
  newTaskId,
  type PriorityHints,
  priorityNumber,
  queueFor,
  type ReplyAddress,
  type ResolvedExecution,
  type TaskBody,
  type TaskRequest,
  type Trigger,
} from '../../tasks/index.ts';
import { assertBytes, assertContext } from './check-request.ts';
import { lanesOf } from './lanes.ts';

/** What a producer asks for. */
export interface AcceptRequest extends TaskRequest {
  tenant: string;
  /** Its id, for a producer that wrote it down before; the same id again makes no second task. */
  id?: string;
  idempotencyKey?: string;
  /** What is compared when the key comes again; by default the whole request. */
  idempotencyBody?: string;
  scheduleId?: string;
  /** What made it, when that was no person's request. */
  trigger?: Trigger;
  /** Who wrote the message, by the surface's own id. */
  user?: string;
  /** The visitor who wrote it, by the id of their token. */
  visitor?: string;
  /** Where the answer goes in a chat. */
  reply?: ReplyAddress;
  /** Its number among the messages of its platform, which orders them in their line; the others go by arrival. */
  order?: number;
  /** The lane of a task without a session. */
  lane?: { name: string; limit: number };
  /** It is not to run, and why: it is accepted straight into `skipped`. */
  skip?: { reason: string };
  /** W3C trace context of the caller. */
  traceparent?: string;
}

/**
 * Makes the task that a request asks for, with every default in place. Errors: `request.invalid`, `request.too-large`.
 */
export function buildTask(
  request: AcceptRequest,
  definition: AgentDefinition,
  settings: Settings,
  parentPriority: number | undefined,
): NewTask {
  checkSize(request, settings);
  checkTimes(request);
  checkRequirements(request);
  const source = request.source ?? (request.parentTaskId === undefined ? 'api' : 'delegation');
  const body = newBody(request, source, resolveExecution(request, definition, settings, source));
  return {
    body,
    ...rankOf(request, source, parentPriority),
    ...(request.skip ? { lane: null, sharedLanes: [] } : lanesOf(request, definition, settings, source)),
    idempotency: request.idempotencyKey === undefined ? null : { key: request.idempotencyKey, digest: digestOf(request) },
    mode: request.mode ?? null,
    takesInput: takesInput(definition, request.context),
    yields: settings.retries[source].lane === 'yield',
    skip: request.skip?.reason ?? null,
  };
}

type Rank = Pick<NewTask, 'priority' | 'queue' | 'class' | 'rateClass'>;

function rankOf(request: AcceptRequest, source: Source, parentPriority: number | undefined): Rank {
  const priority = request.priority ?? defaultPriority(hintsOf(request, source, parentPriority));
  const number = priorityNumber(priority);
  return { priority: number, queue: queueFor(source, priority), class: capClass(source, number), rateClass: CLASS_OF[source] };
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

function newBody(request: AcceptRequest, source: Source, execution: ResolvedExecution): TaskBody {
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
    deadline: timeOf(request.deadline, 'deadline'),
    sla: timeOf(request.sla),
    scheduledFor: timeOf(request.scheduledFor),
    requirements: request.requirements ?? null,
    execution,
    callbackUrl: request.callbackUrl ?? null,
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

/** Most specific first: what the task says, then its agent, then its source. */
function resolveExecution(request: AcceptRequest, definition: AgentDefinition, settings: Settings, source: Source): ResolvedExecution {
  const policy = settings.retries[source];
  const own = request.execution ?? {};
  return {
    timeoutMs: own.timeoutMs ?? definition.timeoutMs ?? settings.tasks.timeoutMs,
    maxAttempts: own.maxAttempts ?? definition.maxAttempts ?? policy.maxAttempts,
    retryDelayMs: own.retryDelayMs ?? definition.retryDelayMs ?? policy.retryDelayMs,
    retryBackoff: own.retryBackoff ?? definition.retryBackoff ?? policy.retryBackoff,
  };
}

function timeOf(text: string | undefined, futureOnly?: string): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (futureOnly && at <= Date.now()) {
    throw new MusterError('request.invalid', `${futureOnly}: expected a time to come, got ${text}`, { details: { [futureOnly]: text } });
  }
  return at;
}

function checkSize({ input, context, metadata }: AcceptRequest, { tasks }: Settings): void {
  assertBytes('input', input, tasks.maxInputBytes);
  if (context || metadata) assertContext('context and metadata', [context, metadata], tasks.maxContextBytes);
}

function checkTimes({ scheduledFor, deadline }: AcceptRequest): void {
  if (scheduledFor === undefined || deadline === undefined || Date.parse(scheduledFor) < Date.parse(deadline)) return;
  throw new MusterError('request.invalid', `scheduledFor: expected a time before the deadline ${deadline}, got ${scheduledFor}`, {
    details: { scheduledFor, deadline },
  });
}

/** No worker says what it is capable of, and no daemon is connected: nothing could ever meet these. */
function checkRequirements({ requirements: { capabilities = [], targetDaemon } = {} }: AcceptRequest): void {
  if (capabilities.length === 0 && targetDaemon === undefined) return;
  const asked = targetDaemon === undefined ? `the capabilities ${capabilities.join(', ')}` : `the daemon "${targetDaemon}"`;
  throw new MusterError('task.unmet-requirements', `No executor of this installation has ${asked}: the task would never run`, {
    details: { requirements: { capabilities, targetDaemon: targetDaemon ?? null } },
  });
}

/** Tells whether a request that comes again under its key is the same. */
export function digestOf({ idempotencyBody, ...request }: AcceptRequest): string {
  // The trace differs from call to call and says nothing about what is asked.
  const body = idempotencyBody ?? canonicalJson({ ...request, traceparent: undefined });
  return createHash('sha256').update(body).digest('base64url');
}

/**
 * Whether messages may go into the runs of this agent's tasks. A task of `echo` says in its context (`noInput`) that it wants none.
 */
function takesInput(definition: AgentDefinition, context: Readonly<Record<string, unknown>> | undefined): boolean {
  switch (definition.kind) {
    case 'echo':
      return !context?.['noInput'];
    case 'openai':
      return true;
    case 'function':
    case 'command':
      return definition.takesInput ?? false;
    case 'http':
      return false;
  }
}
