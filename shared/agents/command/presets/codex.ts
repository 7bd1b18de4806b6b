import { z } from 'zod';
import type { AgentUsage } from '../../../config/index.ts';
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
  type TranscriptOptions,
} from './preset.ts';

const OPTIONS = ['exec', '--json', '--skip-git-repo-check'];

/** The Codex CLI without a terminal, with its events as JSON. */
export const codex: Preset = {
  program: 'codex',
  options: [...OPTIONS, '-'],
  signIn: ['HOME', 'CODEX_HOME', 'CODEX_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  session: {
    resume: (id) => [...OPTIONS, 'resume', id, '-'],
    ownWords: ['resume', '--ephemeral'],
    data: {
      variable: 'CODEX_HOME',
      inVariable: '',
      inHome: '.codex',
      names: ['sessions'],
      files: '-{id}\\.jsonl$',
    },
    isUnknown: /\bno (?:archived )?rollout found\b|\bthread not found\b/i,
  },
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
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
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
  /** What its thread had used when it last said so. */
  used: AgentUsage | null;
}

function openTranscript({ zone, usedBefore = null }: TranscriptOptions): Transcript {
  const state: State = { answer: undefined, failure: undefined, zone, used: usedBefore };
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
  if (event.type === 'thread.started') return [{ kind: 'session', id: event.thread_id }];
  if (event.type === 'turn.completed') return readTurnEnd(state, event);
  return event.type === 'item.started' ? readStart(event.item) : readEnd(state, event.item);
}

/** It counts all of its thread, with the turns of earlier runs. */
function readTurnEnd(state: State, { usage: all }: Extract<Event, { type: 'turn.completed' }>): TranscriptEvent[] {
  state.failure = undefined;
  const total = {
    inputTokens: all.input_tokens,
    outputTokens: all.output_tokens,
    cachedInputTokens: all.cached_input_tokens,
    reasoningTokens: all.reasoning_output_tokens,
  };
  const usage = usageSince(total, state.used);
  state.used = total;
  return [{ kind: 'usage', usage }, { kind: 'session-total', usage: total }, { kind: 'answered' }];
}

/** A total that is smaller than the one before counts from its own beginning. */
function usageSince(total: AgentUsage, before: AgentUsage | null): AgentUsage {
  if (before === null || total.inputTokens < before.inputTokens || total.outputTokens < before.outputTokens) return total;
  return {
    inputTokens: total.inputTokens - before.inputTokens,
    outputTokens: total.outputTokens - before.outputTokens,
    cachedInputTokens: difference(total.cachedInputTokens, before.cachedInputTokens),
    reasoningTokens: difference(total.reasoningTokens, before.reasoningTokens),
  };
}

function difference(now = 0, before = 0): number {
  return Math.max(0, now - before);
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
