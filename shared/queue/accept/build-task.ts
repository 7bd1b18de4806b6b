import { type AgentDefinition, inputSchemaOf, KEEPS_WORKSPACES, type Source } from '../../config/index.ts';
import type { Ledger, NewTask } from '../../ledger/index.ts';
import { capClass, CLASS_OF, defaultPriority, estimatedMs, type PriorityHints, priorityNumber, queueFor } from '../../tasks/index.ts';
import { checkRequest } from './check-request.ts';
import { descentOf, type Parentage } from './join-tree.ts';
import { type AcceptRequest, digestOf, type TextRequest } from './request.ts';
import { inputOf } from './task-input.ts';
import { repeatRuleOf } from './repeat-rule.ts';
import { newBody, resolveExecution } from './task-body.ts';
import { lanesOf } from './task-lanes.ts';

const NO_LANES: Pick<NewTask, 'lane' | 'sharedLanes'> = { lane: null, sharedLanes: [] };

/**
 * Makes the task of a request, with every default in place. Errors: `request.invalid`, `request.too-large`.
 */
export function buildTask(
  asked: AcceptRequest,
  definition: AgentDefinition,
  { settings, limitsOf }: Pick<Ledger, 'settings' | 'limitsOf'>,
  parentage: Parentage | null,
): NewTask {
  const request = withNeedsOf(definition, { ...asked, ...inputOf(asked, definition) });
  checkRequest(request, settings);
  const source = request.source ?? (request.parentTaskId === undefined ? 'api' : 'delegation');
  const repeats = repeatRuleOf(request, definition, settings, source);
  const body = newBody(request, source, resolveExecution(request, definition, settings, source), descentOf(request, parentage));
  const lanes = request.skip ? NO_LANES : lanesOf(request, definition, { settings, limits: limitsOf(request.tenant) }, source);
  const { priority, queue, class: capsAs, rateClass } = rankOf(request, definition, { source, parentPriority: parentage?.priority });
  return {
    body,
    priority,
    queue,
    class: capsAs,
    rateClass,
    lane: lanes.lane,
    sharedLanes: lanes.sharedLanes,
    idempotency: request.idempotencyKey === undefined ? null : { key: request.idempotencyKey, digest: digestOf(asked) },
    ...meetingOf(request, definition),
    takesInput: takesInput(definition, request.context),
    yields: settings.retries[source].lane === 'yield',
    slaLeadMs: settings.dispatch.slaLeadMs,
    awaitedBy: awaiterOf(request),
    ...(request.parentWaits && { parentWaits: true }),
    skip: request.skip?.reason ?? null,
    ...(repeats === null ? {} : { repeats }),
  };
}

/** How it meets work of its session. JSON is one input: it neither merges with others nor carries theirs on. */
function meetingOf({ mode, arrival }: AcceptRequest, definition: AgentDefinition): Pick<NewTask, 'mode' | 'arrival' | 'isOneValue'> {
  if (inputSchemaOf(definition) === undefined) return { mode: mode ?? null, arrival };
  return { mode: mode === 'collect' ? 'queue' : (mode ?? null), isOneValue: true };
}

function awaiterOf({ isAwaited = false, keyId }: AcceptRequest): string | undefined {
  return isAwaited ? keyId : undefined;
}

type Rank = Pick<NewTask, 'priority' | 'queue' | 'class' | 'rateClass'>;

/** What an agent needs of the machine that runs it, each of its tasks requires. */
function withNeedsOf(definition: AgentDefinition, request: TextRequest): TextRequest {
  const own = capabilitiesOf(definition);
  if (own.length === 0) return request;
  const capabilities = [...new Set([...own, ...(request.requirements?.capabilities ?? [])])];
  return { ...request, requirements: { ...request.requirements, capabilities } };
}

function capabilitiesOf(definition: AgentDefinition): readonly string[] {
  if (definition.kind !== 'daemon' && definition.kind !== 'command') return [];
  const { kind, capabilities = [], workspace } = definition;
  return kind === 'daemon' && workspace ? [...capabilities, KEEPS_WORKSPACES] : capabilities;
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
