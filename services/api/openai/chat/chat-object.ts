import { acceptedAt } from '#shared/tasks/index.ts';
import { completionId } from '../ids.ts';
import type { AnswerCall, RunAnswer } from '../output/run-answer.ts';

type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls';

interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

/** What a completion and its chunks have in common. */
export interface Head {
  id: string;
  created: number;
  model: string;
}

export function headOf({ task, part }: RunAnswer, model: string): Head {
  const { id } = task.body;
  return { id: completionId({ task: id, part }), created: Math.floor(acceptedAt(id) / 1000), model };
}

/** Agents that report no tokens have used none. */
function chatUsage({ usage }: RunAnswer): ChatUsage {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** How the answer ended: calls of the agent's own tools stay inside. */
export function finishReasonOf({ calls, task: { state } }: RunAnswer): FinishReason {
  if (calls.length > 0) return 'tool_calls';
  const { finishReason } = state;
  return finishReason === 'length' || finishReason === 'content_filter' ? finishReason : 'stop';
}

function toolCall({ id, name, arguments: json }: AnswerCall): object {
  return { id, type: 'function', function: { name, arguments: json } };
}

/** A complete chat completion. */
export function chatCompletion(answer: RunAnswer, model: string): object {
  const { text, calls } = answer;
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    annotations: [],
    ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReasonOf(answer) };
  const head = headOf(answer, model);
  return { object: 'chat.completion', ...head, choices: [choice], usage: chatUsage(answer), service_tier: null, system_fingerprint: null };
}

/** A chunk of one that is streamed. */
export function chatChunk(head: Head, delta: object, finishReason: FinishReason | null = null): object {
  return { object: 'chat.completion.chunk', ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] };
}

/** The chunk that has the calls, where there are any. */
export function callsChunk(head: Head, { calls }: RunAnswer): object[] {
  if (calls.length === 0) return [];
  return [chatChunk(head, { tool_calls: calls.map((call, index) => Object.assign({ index }, toolCall(call))) })];
}

/** The last chunk, where the caller asked for it. */
export function usageChunk(head: Head, answer: RunAnswer): object {
  return { object: 'chat.completion.chunk', ...head, choices: [], usage: chatUsage(answer) };
}
