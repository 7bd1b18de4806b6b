import { z } from 'zod';
import type { AgentUsage } from '../../../config/index.ts';
import type { TaskFailure } from '../../../errors/index.ts';
import { amount, noteEvent, parseEvent, plainText, type Preset, reportedFailure, type Transcript, type TranscriptEvent } from './preset.ts';

/** Claude Code in print mode, with its stream of JSON. */
export const claudeCode: Preset = {
  program: 'claude',
  options: ['-p', '--output-format', 'stream-json', '--include-partial-messages', '--verbose'],
  inputOptions: ['--input-format', 'stream-json'],
  env: { DISABLE_AUTOUPDATER: '1' },
  encodeMessage: (text) => JSON.stringify({ type: 'user', message: { role: 'user', content: text } }),
  openTranscript,
};

const tokens = z.object({
  input_tokens: amount,
  cache_creation_input_tokens: amount,
  cache_read_input_tokens: amount,
  output_tokens: amount,
});
const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
});
const message = z.object({ id: z.string().optional(), model: z.string().optional(), content: z.array(block).catch([]) });
const fromSubagent = { parent_tool_use_id: z.string().nullish() };

const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('system'),
    subtype: z.string(),
    model: z.string().optional(),
    error_status: z.number().nullish(),
    error: z.string().nullish(),
  }),
  z.object({ type: z.literal('assistant'), message, ...fromSubagent }),
  z.object({
    type: z.literal('stream_event'),
    event: z.looseObject({
      type: z.string(),
      message: z.object({ model: z.string().optional(), usage: tokens.optional() }).optional(),
      delta: z.looseObject({ type: z.string().optional(), text: z.string().optional() }).optional(),
      usage: z.object({ output_tokens: amount }).optional(),
    }),
    ...fromSubagent,
  }),
  z.object({
    type: z.literal('result'),
    subtype: z.string(),
    is_error: z.boolean().default(false),
    result: z.string().optional(),
    errors: z.array(z.string()).catch([]),
    api_error_status: z.number().nullish(),
    total_cost_usd: amount,
    modelUsage: z
      .record(
        z.string(),
        z.object({ inputTokens: amount, outputTokens: amount, cacheReadInputTokens: amount, cacheCreationInputTokens: amount }),
      )
      .catch({}),
  }),
]);

type Event = z.infer<typeof eventSchema>;
type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/** What is known so far; the totals of each `result` include those before it. */
interface State {
  answers: string[];
  usage: AgentUsage | undefined;
  failure: TaskFailure | undefined;
  /** The main one; small tasks of its own it gives to others. */
  model: string | undefined;
  /** Of the call that goes on, its model and input; its output comes at its end. */
  call: { model?: string | undefined; usage?: z.infer<typeof tokens> | undefined } | undefined;
  /** The text of messages is read from their parts, or from the message where a version sends no parts. */
  hasParts: boolean;
}

function openTranscript(): Transcript {
  const state: State = { answers: [], usage: undefined, failure: undefined, model: undefined, call: undefined, hasParts: false };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : readEvent(state, event);
    },
    end: () => ({
      ...(state.answers.length === 0 ? {} : { output: state.answers.join('\n\n') }),
      ...(state.usage === undefined ? {} : { usage: state.usage }),
      ...(state.failure === undefined ? {} : { failure: state.failure }),
    }),
  };
}

function readEvent(state: State, event: Event): TranscriptEvent[] {
  if (event.type === 'system') return readSystem(state, event);
  if (event.type === 'assistant') return readMessage(state, event);
  if (event.type === 'stream_event') return readPart(state, event);
  return readResult(state, event);
}

function readSystem(state: State, { subtype, model, error, error_status: status }: EventOf<'system'>): TranscriptEvent[] {
  if (subtype === 'init') state.model = model;
  if (subtype !== 'api_retry') return [];
  return [noteEvent(`The provider is called again: ${[error, status].filter(Boolean).join(' ') || 'no answer'}`)];
}

function readMessage(state: State, { message: { content }, parent_tool_use_id: parent }: EventOf<'assistant'>): TranscriptEvent[] {
  return content.flatMap(({ type, text, name = 'tool', input }): TranscriptEvent[] => {
    if (type === 'tool_use') return [noteEvent(describeTool(name, input))];
    if (type !== 'text' || text === undefined || state.hasParts || parent) return [];
    return [{ kind: 'text', text: `${text}\n\n` }];
  });
}

/** The first short text among its parameters says most: a path, a command, a query. */
function describeTool(name: string, input: Record<string, unknown> = {}): string {
  const shown = Object.values(input).find((value) => typeof value === 'string');
  return typeof shown === 'string' ? `${name}: ${shown}` : name;
}

function readPart(state: State, { event, parent_tool_use_id: parent }: EventOf<'stream_event'>): TranscriptEvent[] {
  state.hasParts = true;
  if (event.type === 'message_start') {
    state.call = event.message;
    return [];
  }
  if (event.type === 'message_delta') return readCallEnd(state, event.usage?.output_tokens ?? 0);
  if (parent) return [];
  if (event.delta?.type === 'text_delta') return [{ kind: 'text', text: event.delta.text ?? '' }];
  return event.type === 'message_stop' ? [{ kind: 'text', text: '\n\n' }] : [];
}

function readCallEnd(state: State, outputTokens: number): TranscriptEvent[] {
  const { model, usage } = state.call ?? {};
  state.call = undefined;
  if (usage === undefined) return [];
  const cached = usage.cache_read_input_tokens;
  const used = { inputTokens: usage.input_tokens + usage.cache_creation_input_tokens + cached, outputTokens, cachedInputTokens: cached };
  return [{ kind: 'usage', usage: { ...used, ...(model === undefined ? {} : { model }) } }];
}

function readResult(state: State, event: EventOf<'result'>): TranscriptEvent[] {
  const { subtype, is_error: isError, result, errors, api_error_status: status, total_cost_usd: dollars, modelUsage } = event;
  const all = Object.values(modelUsage);
  const cached = sum(all.map((used) => used.cacheReadInputTokens));
  if (all.length > 0) {
    state.usage = {
      inputTokens: cached + sum(all.map((used) => used.inputTokens + used.cacheCreationInputTokens)),
      outputTokens: sum(all.map((used) => used.outputTokens)),
      cachedInputTokens: cached,
      ...(dollars > 0 ? { costMicroUsd: Math.round(dollars * 1e6) } : {}),
      ...(state.model === undefined ? {} : { model: state.model }),
    };
  }
  const failed = isError || subtype !== 'success';
  state.failure = failed ? reportedFailure(result ?? (errors.join('; ') || subtype), status) : undefined;
  if (!failed && result !== undefined) state.answers.push(result);
  return [{ kind: 'answered' }];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
