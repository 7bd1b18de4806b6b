import { z } from 'zod';
import type { TaskFailure } from '../../../errors/index.ts';
import { amount, noteEvent, parseEvent, plainText, type Preset, reportedFailure, type Transcript, type TranscriptEvent } from './preset.ts';

/** OpenCode without a terminal, with its events as JSON. */
export const opencode: Preset = {
  program: 'opencode',
  options: ['run', '--format', 'json'],
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  openTranscript,
};

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
      data: z.looseObject({ message: z.string().optional(), statusCode: z.number().optional() }).optional(),
    }),
  }),
]);

type Event = z.infer<typeof eventSchema>;
type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

interface State {
  /** The texts of its last step; steps before it call tools. */
  texts: string[];
  failure: TaskFailure | undefined;
}

function openTranscript(): Transcript {
  const state: State = { texts: [], failure: undefined };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : readEvent(state, event);
    },
    end: () => ({
      ...(state.texts.length === 0 ? {} : { output: state.texts.join('\n\n') }),
      ...(state.failure === undefined ? {} : { failure: state.failure }),
    }),
  };
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
  const { name = 'error', data } = event.error;
  state.failure = reportedFailure(data?.message ?? name, data?.statusCode);
  return [];
}

/** Its counts of input and output leave out what was cached and what was thought. */
function readStepEnd({ part: { cost, tokens } }: EventOf<'step_finish'>): TranscriptEvent[] {
  const { input, output, reasoning, cache } = tokens;
  const usage = {
    inputTokens: input + cache.read + cache.write,
    outputTokens: output + reasoning,
    cachedInputTokens: cache.read,
    reasoningTokens: reasoning,
    // It writes 0 for models whose price it does not know.
    ...(cost > 0 ? { costMicroUsd: Math.round(cost * 1e6) } : {}),
  };
  return [{ kind: 'usage', usage }];
}
