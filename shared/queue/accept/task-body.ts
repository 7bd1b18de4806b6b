import type { AgentDefinition, Settings, Source } from '../../config/index.ts';
import { isUntrustedBy } from '../../ledger/index.ts';
import { traceparentOf } from '../../log/index.ts';
import { newTaskId, type ResolvedExecution, type TaskBody } from '../../tasks/index.ts';
import { durationMs } from '../../time/index.ts';
import type { Descent } from './join-tree.ts';
import type { AcceptRequest, TextRequest } from './request.ts';

/** What a task stores of its request. Written out: an object that is put together of others costs several times as much. */
export function newBody(request: TextRequest, source: Source, execution: ResolvedExecution, descent: Descent): TaskBody {
  return {
    id: request.id ?? newTaskId(),
    tenant: request.tenant,
    agent: request.agent,
    source,
    input: request.input,
    system: orNull(request.system),
    channel: orNull(request.channel),
    session: orNull(request.session),
    user: orNull(request.user),
    isUserClaimed: orNull(request.isUserClaimed),
    visitor: orNull(request.visitor),
    untrusted: request.untrusted ?? isUntrustedBy(source, orNull(request.visitor)),
    reply: orNull(request.reply),
    context: orNull(request.context),
    metadata: orNull(request.metadata),
    parentTaskId: orNull(request.parentTaskId),
    rootTaskId: descent.rootTaskId,
    depth: descent.depth,
    keyId: descent.keyId,
    correlationId: orNull(request.correlationId),
    scheduleId: orNull(request.scheduleId),
    sourceId: orNull(request.sourceId),
    trigger: orNull(request.trigger),
    deadline: timeOf(request.deadline),
    sla: timeOf(request.sla),
    scheduledFor: timeOf(request.scheduledFor),
    requirements: orNull(request.requirements),
    execution,
    callbackUrl: orNull(request.callbackUrl),
    // Uploads are looked up, and bound to the task, once all else of it is known.
    attachments: null,
    request: orNull(request.request),
    traceparent: traceparentOf(request.traceparent),
  };
}

function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
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
    ...withinRule(request, definition, settings.modelBatches),
  };
}

/** How long the task may take, by itself or its agent; what is shorter than a task may say has no time for a batch. */
function withinRule(
  { within: own }: AcceptRequest,
  definition: AgentDefinition,
  { minWithinMs }: Settings['modelBatches'],
): Pick<ResolvedExecution, 'withinMs'> {
  const within = own ?? ('within' in definition ? definition.within : undefined);
  const withinMs = within === undefined ? 0 : durationMs(within);
  return withinMs < minWithinMs ? {} : { withinMs };
}

/** Whether the task is aborted at its deadline, by the most specific setting. */
function deadlineRule(rules: readonly { deadlineAborts?: boolean | undefined }[]): Pick<ResolvedExecution, 'deadlineAborts'> {
  const first = rules.find(({ deadlineAborts }) => deadlineAborts !== undefined);
  return first?.deadlineAborts ? { deadlineAborts: true } : {};
}
