import { z } from 'zod';
import type { AgentUsage } from '../../../config/index.ts';
import type { TaskFailure } from '../../../errors/index.ts';
import { readUntil } from '../../../providers/index.ts';
import {
  amount,
  limitFailure,
  noteEvent,
  parseEvent,
  placeIn,
  plainText,
  type Preset,
  reportedFailure,
  type Transcript,
  type TranscriptEvent,
  type TranscriptOptions,
} from './preset.ts';

const OPTIONS = ['-p', '--output-format', 'stream-json', '--include-partial-messages', '--verbose'];

/** Claude Code in print mode, with its stream of JSON. */
export const claudeCode: Preset = {
  program: 'claude',
  options: OPTIONS,
  inputOptions: ['--input-format', 'stream-json'],
  env: { DISABLE_AUTOUPDATER: '1' },
  signIn: ['HOME', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
  session: {
    begin: (id) => ['--session-id', id],
    resume: (id) => [...OPTIONS, '--resume', id],
    ownWords: ['--session-id', '--resume', '-r', '--continue', '-c', '--fork-session', '--no-session-persistence'],
    data: {
      variable: 'CLAUDE_CONFIG_DIR',
      inVariable: '',
      inHome: '.claude',
      names: ['projects'],
      files: '^projects/[^/]+/{id}(?:\\.jsonl$|/)',
      place: { from: '^projects/[^/]+', to: (cwd) => `projects/${projectOf(cwd)}` },
    },
    isUnknown: /\bno conversation found with session id\b/i,
  },
  encodeMessage: (text) => JSON.stringify({ type: 'user', message: { role: 'user', content: text } }),
  openTranscript,
};

/** It finds a session only in the folder that has the name of its working folder, written like that. */
function projectOf(cwd: string): string {
  return cwd.replaceAll(/[^A-Za-z0-9]/g, '-');
}

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
const messageSchema = z.object({ id: z.string().optional(), model: z.string().optional(), content: z.array(block).catch([]) });
/** A window of its account's limits. `overageStatus` says what could be bought besides, and no more. */
const limitWindow = z.object({ status: z.string().optional(), resetsAt: z.unknown().optional() });
const fromSubagent = { parent_tool_use_id: z.string().nullish() };

const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('system'),
    subtype: z.string(),
    session_id: z.string().optional(),
    model: z.string().optional(),
    error_status: z.number().nullish(),
    error: z.string().nullish(),
  }),
  z.object({ type: z.literal('assistant'), message: messageSchema, ...fromSubagent }),
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
  z.object({ type: z.literal('rate_limit_event'), rate_limit_info: limitWindow.optional(), ...limitWindow.shape }),
  z.object({
    type: z.literal('result'),
    subtype: z.string(),
    is_error: z.boolean().default(false),
    result: z.string().optional(),
    errors: z.array(z.string()).catch([]),
    api_error_status: z.number().nullish(),
    total_cost_usd: amount,
    /** Of this result alone; versions without `modelUsage` say no more. */
    usage: tokens.partial().catch({}).default({}),
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
  /** Why its account was refused; `untilMs` is null where that is not said. */
  limit: { untilMs: number | null } | undefined;
  readonly zone: string;
  /** The main one; small tasks of its own it gives to others. */
  model: string | undefined;
  /** Of the call that goes on, its model and input; its output comes at its end. */
  call: { model?: string | undefined; usage?: z.infer<typeof tokens> | undefined } | undefined;
  /** The text of messages is read from their parts, or from the message where a version sends no parts. */
  hasParts: boolean;
}

function openTranscript({ zone }: TranscriptOptions): Transcript {
  const nothing = { usage: undefined, failure: undefined, limit: undefined, model: undefined, call: undefined };
  const state: State = { ...nothing, answers: [], hasParts: false, zone };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : readEvent(state, event);
    },
    end: () => {
      const failure = failureOf(state);
      return {
        ...(state.answers.length === 0 ? {} : { output: state.answers.join('\n\n') }),
        ...(state.usage === undefined ? {} : { usage: state.usage }),
        ...(failure === undefined ? {} : { failure }),
      };
    },
  };
}

/** What the program says of its limit in an event is exact, and what it says of it in words may have no time. */
function failureOf({ failure, limit, answers }: State): TaskFailure | undefined {
  if (limit === undefined || (failure === undefined && answers.length > 0)) return failure;
  return limitFailure(failure?.message ?? 'The account has reached its limit', limit);
}

function readEvent(state: State, event: Event): TranscriptEvent[] {
  if (event.type === 'system') return readSystem(state, event);
  if (event.type === 'assistant') return readMessage(state, event);
  if (event.type === 'stream_event') return readPart(state, event);
  if (event.type === 'rate_limit_event') return readWindow(state, event);
  return readResult(state, event);
}

function readSystem(state: State, { subtype, session_id: id, model, error, error_status: status }: EventOf<'system'>): TranscriptEvent[] {
  if (subtype === 'init') state.model = model;
  if (subtype === 'init' && id !== undefined) return [{ kind: 'session', id }];
  if (subtype !== 'api_retry') return [];
  return [noteEvent(`The provider is called again: ${[error, status].filter(Boolean).join(' ') || 'no answer'}`)];
}

/** Each window has an event of its own, and calls go when the last of those that refuse is over. */
function readWindow(state: State, event: EventOf<'rate_limit_event'>): TranscriptEvent[] {
  const { status, resetsAt } = event.rate_limit_info ?? event;
  if (status !== 'rejected') return [];
  const untilMs = readUntil(resetsAt, placeIn(state.zone));
  state.limit = { untilMs: Math.max(untilMs ?? 0, state.limit?.untilMs ?? 0) || null };
  return [noteEvent('The limit of the account is reached')];
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
  const usage = usageOfResult(state, event);
  state.usage = usage ?? state.usage;
  state.failure = failureOfResult(state, event);
  if (state.failure === undefined) {
    state.limit = undefined;
    if (event.result !== undefined) state.answers.push(event.result);
  }
  return [...(usage === undefined ? [] : [{ kind: 'total', usage } as const]), { kind: 'answered' }];
}

function failureOfResult(
  { zone }: State,
  { subtype, is_error: isError, result, errors, api_error_status: status }: EventOf<'result'>,
): TaskFailure | undefined {
  const message = result ?? (errors.join('; ') || subtype);
  const isGood = !isError && subtype === 'success' && !LIMIT_NOTICE.test(message);
  return isGood ? undefined : reportedFailure({ message, status, zone });
}

/** What some versions answer with, as if it were an answer, when the account has reached its limit. */
const LIMIT_NOTICE =
  /^(?:claude ai usage limit reached\|\d+|[\w -]{0,30}limit reached\s*[∙·•].{0,80}|you[’']ve (?:hit|reached) your .{0,80})$/i;

/** All that it has used: the sums of a later result include those before it. */
function usageOfResult({ model }: State, { modelUsage, usage, total_cost_usd: dollars }: EventOf<'result'>): AgentUsage | undefined {
  const all = Object.values(modelUsage);
  if (all.length === 0 && dollars === 0) return undefined;
  const of = {
    input_tokens: sum(all.map((used) => used.inputTokens)),
    cache_creation_input_tokens: sum(all.map((used) => used.cacheCreationInputTokens)),
    cache_read_input_tokens: sum(all.map((used) => used.cacheReadInputTokens)),
    output_tokens: sum(all.map((used) => used.outputTokens)),
  };
  const {
    input_tokens: input = 0,
    cache_creation_input_tokens: written = 0,
    cache_read_input_tokens: cached = 0,
    output_tokens: output = 0,
  } = all.length === 0 ? usage : of;
  return {
    inputTokens: input + written + cached,
    outputTokens: output,
    cachedInputTokens: cached,
    ...(dollars > 0 ? { costMicroUsd: Math.round(dollars * 1e6) } : {}),
    ...(model === undefined ? {} : { model }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
