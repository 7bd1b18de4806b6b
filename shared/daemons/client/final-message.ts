import type { AgentResult } from '../../config/index.ts';
import { classifyFailure } from '../../errors/index.ts';
import { ellipsize } from '../../text/index.ts';
import type { AttemptName } from '../attempt-name.ts';
import { type DaemonMessageToSend, parseDaemonMessage } from '../protocol.ts';
import type { Failure } from './attempts/attempt-failure.ts';
import type { WorkspaceLeft } from './daemon-task.ts';
import { readUsage, type Usage, withSumOnly } from './usage.ts';

/** The message that reports the end of an attempt. */
export type FinalMessage = Extract<DaemonMessageToSend, { type: 'task.completed' | 'task.failed' }>;

export interface FinalMessageOptions {
  readonly name: AttemptName;
  /** What the handler reported while it ran. */
  readonly usage: Usage | null | undefined;
  /** What is kept of its workspace. */
  readonly workspace?: WorkspaceLeft | null | undefined;
}

/** The handler's answer as a message. Throws AGENT_ERROR when its usage is none. */
export function completedMessage(
  answer: AgentResult | string | undefined | void,
  { name, usage: reported, workspace }: FinalMessageOptions,
): FinalMessage {
  const { output, result, usage: total } = typeof answer === 'string' ? { output: answer } : { ...answer };
  return {
    type: 'task.completed',
    ...name,
    ...(output === undefined ? {} : { output }),
    ...(result === undefined ? {} : { result }),
    // The answer's own usage stands for all reports.
    ...usageField(total === undefined ? reported : readUsage(total)),
    ...(workspace && { workspace }),
  };
}

export function failedMessage(
  { code, message, details, retryAfterMs }: Failure,
  { name, usage, workspace }: FinalMessageOptions,
): FinalMessage {
  const error = {
    code,
    message,
    retryable: classifyFailure(code) !== 'permanent',
    ...(details === undefined ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return { type: 'task.failed', ...name, error, ...usageField(usage), ...(workspace && { workspace }) };
}

function leftOf({ workspace }: FinalMessage): WorkspaceLeft | null {
  return workspace ? { ...workspace, changes: workspace.changes ?? null } : null;
}

function usageField(usage: Usage | null | undefined): { usage?: Usage } {
  return usage === null || usage === undefined ? {} : { usage };
}

/** The message as a hub takes it: one that does not fit its schema, or has more than `maxBytes`, becomes a failure that does. */
export function deliverable(final: FinalMessage, maxBytes: number): FinalMessage {
  const json = toJson(final);
  if (json === undefined) return invalidMessage(final, 'it is no JSON');
  const fitting = Buffer.byteLength(json) > maxBytes ? shrunk(final, maxBytes) : final;
  const parsed = parseDaemonMessage(fitting === final ? json : JSON.stringify(fitting));
  if (!parsed.ok) return invalidMessage(fitting, parsed.message);
  return isFinal(parsed.message) ? parsed.message : fitting;
}

/** Instead of a message that is larger than the hub takes: one without its usage by model where that is enough, else a failure. */
export function shrunk(final: FinalMessage, maxBytes: number): FinalMessage {
  const summed = withSumOnly(final);
  if (summed !== final && messageBytes(summed) <= maxBytes) return summed;
  const failure = failureInsteadOf(final);
  return messageBytes(failure) <= maxBytes ? failure : withSumOnly(failure);
}

function failureInsteadOf(final: FinalMessage): FinalMessage {
  const { taskId, token, usage } = final;
  const options = { name: { taskId, token }, usage, workspace: leftOf(final) };
  const bytes = messageBytes(final);
  if (final.type === 'task.failed') return failedMessage(withoutDetails(final, 'its details are too large', bytes), options);
  const message = `The result has ${bytes} bytes, more than the hub takes; what is written meanwhile may be longer`;
  return failedMessage({ code: 'OUTPUT_TOO_LARGE', message }, options);
}

/** Bytes of a message as the hub receives it. */
export function messageBytes(message: DaemonMessageToSend): number {
  return Buffer.byteLength(JSON.stringify(message));
}

export function isFinal(message: DaemonMessageToSend): message is FinalMessage {
  return message.type === 'task.completed' || message.type === 'task.failed';
}

/** Without its usage, which may be what is wrong. */
function invalidMessage(final: FinalMessage, problem: string): FinalMessage {
  const { taskId, token } = final;
  const options = { name: { taskId, token }, usage: null };
  if (final.type === 'task.failed') return failedMessage(withoutDetails(final, 'its details cannot be sent', Infinity), options);
  return failedMessage({ code: 'AGENT_ERROR', message: `The answer is not { output?, result?, usage? }: ${problem}` }, options);
}

const MAX_MESSAGE = 4000;

/** A character is at most six bytes of JSON, so that its message takes at most half of `bytes`. */
function withoutDetails({ error }: Extract<FinalMessage, { type: 'task.failed' }>, why: string, bytes: number): Failure {
  const message = ellipsize(error.message ?? '', Math.min(MAX_MESSAGE, Math.floor(bytes / 12)));
  return { code: error.code, message: error.details ? `${message} (${why})` : message };
}

function toJson(message: FinalMessage): string | undefined {
  try {
    return JSON.stringify(message);
  } catch {
    return undefined;
  }
}
