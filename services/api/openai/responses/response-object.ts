import { acceptedAt, isTerminal, type ModelRequest } from '#shared/tasks/index.ts';
import { type Failure, failureOf } from '../failure.ts';
import { callItemId, messageId, responseId } from '../ids.ts';
import type { AnswerCall, RunAnswer } from '../output/run-answer.ts';
import { formatField } from '../requests/read-format.ts';

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A message in the output of a response. */
export interface MessageItem {
  type: 'message';
  id: string;
  status: 'in_progress' | 'completed' | 'incomplete';
  role: 'assistant';
  content: { type: 'output_text'; text: string; annotations: never[]; logprobs: never[] }[];
}

/** A call of a function of the caller. */
export interface CallItem {
  type: 'function_call';
  id: string;
  call_id: string;
  name: string;
  arguments: string;
  status: 'in_progress' | 'completed';
}

/** A response, as its clients read it. */
export interface ResponseObject extends Record<string, unknown> {
  id: string;
  object: 'response';
  status: ResponseStatus;
  output: (MessageItem | CallItem)[];
}

/** How a response stands. */
export function responseStatus({ task: { state }, part, calls, isBackground }: RunAnswer): ResponseStatus {
  const { status, attempt, finishReason } = state;
  if (calls.length > 0) return 'completed';
  if (status === 'completed') return finishReason === 'length' || finishReason === 'content_filter' ? 'incomplete' : 'completed';
  if (status === 'cancelled') return 'cancelled';
  if (isTerminal(status)) return 'failed';
  // Nobody else reads `queued` as an answer that is yet to come.
  return isBackground && (part === 1 ? attempt === 0 : status === 'queued') ? 'queued' : 'in_progress';
}

/** The response of an answer. `item`: which message of the stream its text is. */
export function responseObject(answer: RunAnswer, item = 0): ResponseObject {
  const status = responseStatus(answer);
  const { task, part, hasEnded } = answer;
  return {
    ...REPEATED,
    ...requestFields(answer),
    id: responseId({ task: task.body.id, part }),
    object: 'response',
    status,
    completed_at: status === 'completed' ? Math.floor((answer.endedAt ?? 0) / 1000) : null,
    error: errorOf(answer, status),
    incomplete_details: detailsOf(answer, status),
    output: status === 'completed' || status === 'incomplete' ? itemsOf(answer, status, item) : [],
    usage: hasEnded ? usageOf(answer) : null,
  };
}

/** Its text, unless there are calls alone, and then its calls. */
function itemsOf({ task, part, text, calls }: RunAnswer, status: MessageItem['status'], item: number): (MessageItem | CallItem)[] {
  const said = text === '' && calls.length > 0 ? [] : [messageItem(messageId({ task: task.body.id, part }, item), text, status)];
  return [...said, ...calls.map((call) => callItem(call, 'completed'))];
}

export function callItem({ id, name, arguments: json }: AnswerCall, status: CallItem['status']): CallItem {
  return { type: 'function_call', id: callItemId(id), call_id: id, name, arguments: status === 'completed' ? json : '', status };
}

/** What tunes a model, which agents say themselves. */
const REPEATED = {
  max_tool_calls: null,
  parallel_tool_calls: true,
  temperature: null,
  top_p: null,
  reasoning: { effort: null, summary: null },
  truncation: 'disabled',
  service_tier: null,
  user: null,
};

const NO_REQUEST: ModelRequest = { kind: 'response' };

/** What a response repeats of its request. */
function requestFields({ task: { body }, part, isBackground }: RunAnswer): Record<string, unknown> {
  const { id, agent, metadata } = body;
  const request = body.request ?? NO_REQUEST;
  const { conversation, instructions = null, isHidden = false, maxOutputTokens = null } = request;
  const previous = part > 1 ? { task: id, part: part - 1 } : request.previous;
  return {
    created_at: Math.floor(acceptedAt(id) / 1000),
    background: isBackground,
    model: agent,
    instructions,
    metadata: metadata ?? {},
    max_output_tokens: maxOutputTokens,
    previous_response_id: previous ? responseId(previous) : null,
    conversation: conversation === undefined ? null : { id: conversation },
    store: !isHidden,
    text: { format: formatField(request.format) },
    ...toolFields(request),
  };
}

function toolFields({ functions = [], mustCall }: ModelRequest): Record<string, unknown> {
  return {
    tools: functions.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })),
    tool_choice: typeof mustCall === 'string' ? { type: 'function', name: mustCall } : mustCall === true ? 'required' : 'auto',
  };
}

function detailsOf({ task: { state } }: RunAnswer, status: ResponseStatus): { reason: string } | null {
  if (status !== 'incomplete') return null;
  return { reason: state.finishReason === 'length' ? 'max_output_tokens' : 'content_filter' };
}

export function messageItem(id: string, text: string, status: MessageItem['status']): MessageItem {
  return { type: 'message', id, status, role: 'assistant', content: [textPart(text)] };
}

export function textPart(text: string): MessageItem['content'][number] {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function errorOf(answer: RunAnswer, status: ResponseStatus): Failure | null {
  return status === 'failed' ? failureOf(answer) : null;
}

/** Agents that report no tokens have used none. */
function usageOf({ usage }: RunAnswer): object {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
