import { z } from 'zod';
import { codexServerWords } from '../../../../config/index.ts';
import { amount, parseEvent, plainText, type Preset, type Transcript, type TranscriptEvent, type TranscriptOptions } from '../preset.ts';
import { CodexServer } from './codex-server.ts';
import { CodexTurn, itemSchema, usageSince } from './codex-turn.ts';

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
  server: {
    words: (command) => [...codexServerWords(command).words, 'app-server'],
    open: (options) => new CodexServer(options),
  },
};

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.object({ type: z.literal('item.started'), item: itemSchema }),
  z.object({ type: z.literal('item.completed'), item: itemSchema }),
  z.object({
    type: z.literal('turn.completed'),
    usage: z.object({ input_tokens: amount, cached_input_tokens: amount, output_tokens: amount, reasoning_output_tokens: amount }),
  }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);

type Event = z.infer<typeof eventSchema>;

function openTranscript({ zone, usedBefore = null }: TranscriptOptions): Transcript {
  const turn = new CodexTurn(zone);
  /** What its thread had used when it last said so. */
  let used = usedBefore;
  /** It counts all of its thread, with the turns of earlier runs. */
  const readTurnEnd = ({ usage: all }: Extract<Event, { type: 'turn.completed' }>): TranscriptEvent[] => {
    turn.succeed();
    const total = {
      inputTokens: all.input_tokens,
      outputTokens: all.output_tokens,
      cachedInputTokens: all.cached_input_tokens,
      reasoningTokens: all.reasoning_output_tokens,
    };
    const usage = usageSince(total, used);
    used = total;
    return [{ kind: 'usage', usage }, { kind: 'session-total', usage: total }, { kind: 'answered' }];
  };
  const readEvent = (event: Event): TranscriptEvent[] => {
    if (event.type === 'turn.failed') {
      turn.fail(event.error.message);
      return [{ kind: 'answered' }];
    }
    if (event.type === 'error') return turn.trouble(event.message);
    if (event.type === 'thread.started') return [{ kind: 'session', id: event.thread_id }];
    if (event.type === 'turn.completed') return readTurnEnd(event);
    return event.type === 'item.started' ? turn.start(event.item) : turn.complete(event.item);
  };
  return {
    read: (line) => {
      const event = parseEvent(eventSchema, line);
      return event === null ? plainText(line) : readEvent(event);
    },
    end: () => turn.end(),
  };
}
