import type { AgentDefinition, Settings, Source } from '../../config/index.ts';
import { childTraceparent, newTaskId, type ResolvedExecution, type TaskBody } from '../../tasks/index.ts';
import type { Descent } from './join-tree.ts';
import type { AcceptRequest } from './request.ts';

/** What a task stores of its request, without its place in a tree of tasks. */
export function newBody(request: AcceptRequest, source: Source, execution: ResolvedExecution): Omit<TaskBody, keyof Descent> {
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

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

/** The most specific setting counts: the task's, then its agent's, then its source's. */
export function resolveExecution(
  request: AcceptRequest,
  definition: AgentDefinition,
  settings: Settings,
  source: Source,
): ResolvedExecution {
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
