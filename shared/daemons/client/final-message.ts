import type { AgentResult, AgentUsage } from '../../config/index.ts';
import { classifyFailure } from '../../errors/index.ts';
import type { AttemptName } from '../attempt-name.ts';
import type { DaemonMessageToSend } from '../protocol.ts';
import type { Failure } from './attempt-failure.ts';

/** The message that reports the end of an attempt. */
export type FinalMessage = Extract<DaemonMessageToSend, { type: 'task.completed' | 'task.failed' }>;

export type Usage = NonNullable<FinalMessage['usage']>;

export interface FinalMessageOptions {
  readonly name: AttemptName;
  /** What the handler reported while it ran. */
  readonly usage: readonly Usage[];
}

interface CompletedOptions extends FinalMessageOptions {
  /** A larger message is a failure of its own: the hub would refuse it. */
  readonly maxMessageBytes: number;
}

/** The handler's answer as a message. */
export function completedMessage(answer: AgentResult | string | undefined | void, options: CompletedOptions): FinalMessage {
  const { output, result, usage: total } = typeof answer === 'string' ? { output: answer } : { ...answer };
  const { name, usage, maxMessageBytes } = options;
  const final: FinalMessage = {
    type: 'task.completed',
    ...name,
    ...(output === undefined ? {} : { output }),
    ...(result === undefined ? {} : { result }),
    // The answer's own usage stands for all reports.
    ...usageField(total === undefined ? usage : [readUsage(total)]),
  };
  if (Buffer.byteLength(JSON.stringify(final)) <= maxMessageBytes) return final;
  const message = `The result has more than ${maxMessageBytes} bytes; what is written meanwhile may be longer`;
  return failedMessage({ code: 'OUTPUT_TOO_LARGE', message }, options);
}

export function failedMessage({ code, message, details }: Failure, { name, usage }: FinalMessageOptions): FinalMessage {
  const error = { code, message, retryable: classifyFailure(code) !== 'permanent', ...(details === undefined ? {} : { details }) };
  return { type: 'task.failed', ...name, error, ...usageField(usage) };
}

function usageField(usage: readonly Usage[]): { usage?: Usage } {
  return usage.length === 0 ? {} : { usage: usage.reduce(addUsage) };
}

/** The fields of a usage that a message may have. */
export function readUsage({ inputTokens, outputTokens, costMicroUsd, model }: AgentUsage): Usage {
  return {
    inputTokens,
    outputTokens,
    ...(costMicroUsd === undefined ? {} : { costMicroUsd }),
    ...(model === undefined ? {} : { model }),
  };
}

function addUsage(sum: Usage, each: Usage): Usage {
  const total: Usage = { ...sum, ...each };
  for (const field of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
    if (sum[field] !== undefined || each[field] !== undefined) total[field] = (sum[field] ?? 0) + (each[field] ?? 0);
  }
  return total;
}
