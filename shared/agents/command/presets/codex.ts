import { z } from 'zod';
import type { TaskFailure } from '../../../errors/index.ts';
import { readLimit } from '../../../providers/index.ts';
import {
  amount,
  noteEvent,
  parseEvent,
  placeIn,
  plainText,
  type Preset,
  reportedFailure,
  type Transcript,
  type TranscriptEvent,
} from './preset.ts';

/** The Codex CLI without a terminal, with its events as JSON. */
export const codex: Preset = {
  program: 'codex',
  options: ['exec', '--json', '--skip-git-repo-check', '-'],
  signIn: ['HOME', 'CODEX_HOME', 'CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  openTranscript,
};

const item = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  command: z.string().optional(),
  query: z.string().optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  message: z.string().optional(),
  changes: z.array(z.object({ path: z.string(), kind: z.string() })).catch([]),
});

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.started'), item }),
  z.object({ type: z.literal('item.completed'), item }),
  z.object({
    type: z.literal('turn.completed'),
    usage: z.object({ input_tokens: amount, cached_input_tokens: amount, output_tokens: amount, reasoning_output_tokens: amount }),
  }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);

type Event = z.infer<typeof eventSchema>;

interface State {
  /** Its last message; those before it say what it is about to do. */
  answer: string | undefined;
  failure: TaskFailure | undefined;
  readonly zone: string;
}

function openTranscript(zone: string): Transcript {
  const state: State = { answer: undefined, failure: undefined, zone };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : readEvent(state, event);
    },
    end: () => ({
      ...(state.answer === undefined ? {} : { output: state.answer }),
      ...(state.failure === undefined ? {} : { failure: state.failure }),
    }),
  };
}

function readEvent(state: State, event: Event): TranscriptEvent[] {
  if (event.type === 'turn.failed') {
    state.failure = failureOf(event.error.message, state.zone);
    return [{ kind: 'answered' }];
  }
  if (event.type === 'error') return readError(state, event.message);
  if (event.type === 'turn.completed') {
    state.failure = undefined;
    const {
      input_tokens: inputTokens,
      cached_input_tokens: cached,
      output_tokens: outputTokens,
      reasoning_output_tokens: reasoning,
    } = event.usage;
    const usage = { inputTokens, outputTokens, cachedInputTokens: cached, reasoningTokens: reasoning };
    return [{ kind: 'usage', usage }, { kind: 'answered' }];
  }
  return event.type === 'item.started' ? readStart(event.item) : readEnd(state, event.item);
}

function readStart({ type, command, query, server, tool }: z.infer<typeof item>): TranscriptEvent[] {
  if (type === 'command_execution') return [noteEvent(`$ ${command ?? ''}`)];
  if (type === 'mcp_tool_call') return [noteEvent([server, tool].filter(Boolean).join('.'))];
  return type === 'web_search' ? [noteEvent(`search: ${query ?? ''}`)] : [];
}

/** It goes on after most of these, as when it connects again; some versions end after a limit without any other event. */
function readError(state: State, message: string): TranscriptEvent[] {
  if (readLimit(message, placeIn(state.zone)) !== null) state.failure = failureOf(message, state.zone);
  return [noteEvent(message)];
}

function readEnd(state: State, { type, text, message, changes }: z.infer<typeof item>): TranscriptEvent[] {
  if (type === 'agent_message' && text !== undefined) {
    state.answer = text;
    return [{ kind: 'working' }, { kind: 'text', text: `${text}\n\n` }];
  }
  if (type === 'command_execution' || type === 'reasoning') return [{ kind: 'working' }];
  if (type === 'file_change') return changes.map(({ kind, path }) => noteEvent(`${kind}: ${path}`));
  return type === 'error' && message !== undefined ? [noteEvent(message)] : [];
}

/** The status is only in the text. */
function failureOf(message: string, zone: string): TaskFailure {
  const status = /\bstatus(?:_code)?\W{1,3}(\d{3})\b/.exec(message)?.[1];
  return reportedFailure({ message, status: status === undefined ? null : Number(status), zone });
}
