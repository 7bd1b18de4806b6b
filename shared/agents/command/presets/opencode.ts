import { z } from 'zod';
import type { TaskFailure } from '../../../errors/index.ts';
import {
  amount,
  noteEvent,
  parseEvent,
  plainText,
  type Preset,
  reportedFailure,
  type Transcript,
  type TranscriptEvent,
  type TranscriptOptions,
} from './preset.ts';

const OPTIONS = ['run', '--format', 'json'];

/** OpenCode without a terminal, with its events as JSON. */
export const opencode: Preset = {
  program: 'opencode',
  options: OPTIONS,
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  signIn: ['HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
  session: {
    resume: (id) => [...OPTIONS, '--session', id],
    ownWords: ['--session', '-s', '--continue', '-c', '--fork'],
    data: {
      variable: 'XDG_DATA_HOME',
      inVariable: 'opencode',
      inHome: '.local/share/opencode',
      names: ['storage', 'opencode.db', 'opencode.db-wal'],
      files: '',
      isShared: true,
    },
    isUnknown: /\bsession not found\b/i,
  },
  openTranscript,
};

const sessionSchema = z.object({ sessionID: z.string() });

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('step_start') }),
  z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) }),
  z.object({
    type: z.literal('tool_use'),
    part: z.object({ tool: z.string(), state: z.looseObject({ title: z.string().optional(), error: z.string().optional() }) }),
  }),
  z.object({
    type: z.literal('step_finish'),
    part: z.object({
      /** Why the step ended; after `tool-calls` another one follows. */
      reason: z.string().optional(),
      cost: amount,
      tokens: z.object({
        input: amount,
        output: amount,
        reasoning: amount,
        cache: z.object({ read: amount, write: amount }).prefault({}),
      }),
    }),
  }),
  z.object({
    type: z.literal('error'),
    error: z.looseObject({
      name: z.string().optional(),
      data: z
        .looseObject({
          message: z.string().optional(),
          statusCode: z.number().optional(),
          responseBody: z.string().optional().catch(undefined),
          responseHeaders: z.record(z.string(), z.string()).optional().catch(undefined),
        })
        .optional(),
    }),
  }),
]);

type Event = z.infer<typeof eventSchema>;
type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

interface State {
  /** The texts of its last step; steps before it call tools. */
  texts: string[];
  failure: TaskFailure | undefined;
  readonly zone: string;
  session: string | undefined;
}

function openTranscript({ zone }: TranscriptOptions): Transcript {
  const state: State = { texts: [], failure: undefined, zone, session: undefined };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : [...readSession(state, line), ...readEvent(state, event)];
    },
    end: () => ({
      ...(state.texts.length === 0 ? {} : { output: state.texts.join('\n\n') }),
      ...(state.failure === undefined ? {} : { failure: state.failure }),
    }),
  };
}

/** Each of its events names its session. */
function readSession(state: State, line: string): TranscriptEvent[] {
  const id = parseEvent(sessionSchema, line)?.sessionID;
  if (id === undefined || id === state.session) return [];
  state.session = id;
  return [{ kind: 'session', id }];
}

function readEvent(state: State, event: Event): TranscriptEvent[] {
  if (event.type === 'step_start') {
    state.texts = [];
    return [];
  }
  if (event.type === 'text') {
    state.texts.push(event.part.text);
    return [{ kind: 'text', text: `${event.part.text}\n\n` }];
  }
  if (event.type === 'tool_use') {
    const { tool, state: outcome } = event.part;
    return [noteEvent([tool, outcome.error ?? outcome.title].filter(Boolean).join(': '))];
  }
  if (event.type === 'step_finish') return readStepEnd(event);
  state.failure = failureOf(event, state.zone);
  return [{ kind: 'answered' }];
}

function failureOf({ error: { name = 'error', data = {} } }: EventOf<'error'>, zone: string): TaskFailure {
  const { message = name, statusCode: status, responseBody = '', responseHeaders: headers = {} } = data;
  const named = Object.entries(headers).flatMap(([header, value]) => (/^retry-after/i.test(header) ? [`${header}: ${value}`] : []));
  return reportedFailure({ message, status, more: [responseBody, ...named].join(' '), zone });
}

/** Its counts of input and output leave out what was cached and what was thought. */
function readStepEnd({ part: { reason, cost, tokens } }: EventOf<'step_finish'>): TranscriptEvent[] {
  const { input, output, reasoning, cache } = tokens;
  const usage = {
    inputTokens: input + cache.read + cache.write,
    outputTokens: output + reasoning,
    cachedInputTokens: cache.read,
    reasoningTokens: reasoning,
    // It writes 0 for models whose price it does not know.
    ...(cost > 0 ? { costMicroUsd: Math.round(cost * 1e6) } : {}),
  };
  const isLast = reason !== undefined && reason !== 'tool-calls';
  return [{ kind: 'usage', usage }, ...(isLast ? [{ kind: 'answered' } as const] : [])];
}
