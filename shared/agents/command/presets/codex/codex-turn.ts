import { z } from 'zod';
import type { AgentUsage } from '../../../../config/index.ts';
import type { TaskFailure } from '../../../../errors/index.ts';
import { readLimit } from '../../../../providers/index.ts';
import { noteEvent, placeIn, reportedFailure, type TranscriptEnd, type TranscriptEvent } from '../preset.ts';

/** What Codex does, as `exec --json` names it. */
export const itemSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  command: z.string().optional(),
  query: z.string().optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
  message: z.string().optional(),
  changes: z.array(z.object({ path: z.string(), kind: z.string() })).catch([]),
});

export type CodexItem = z.infer<typeof itemSchema>;

/** CodexTurn is responsible for what the events of Codex come to: its answer, or why it failed. */
export class CodexTurn {
  readonly #zone: string;
  /** Its last message; those before it say what it is about to do. */
  #answer: string | undefined;
  #failure: TaskFailure | undefined;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** It begins with something. */
  start({ type, command, query, server, tool }: CodexItem): TranscriptEvent[] {
    if (type === 'command_execution') return [noteEvent(`$ ${command ?? ''}`)];
    if (type === 'mcp_tool_call') return [noteEvent([server, tool].filter(Boolean).join('.'))];
    return type === 'web_search' ? [noteEvent(`search: ${query ?? ''}`)] : [];
  }

  /** It has done something. */
  complete({ type, text, message, changes }: CodexItem): TranscriptEvent[] {
    if (type === 'agent_message' && text !== undefined) {
      this.#answer = text;
      return [{ kind: 'working' }, { kind: 'text', text: `${text}\n\n` }];
    }
    if (type === 'command_execution' || type === 'reasoning') return [{ kind: 'working' }];
    if (type === 'file_change') return changes.map(({ kind, path }) => noteEvent(`${kind}: ${path}`));
    return type === 'error' && message !== undefined ? [noteEvent(message)] : [];
  }

  /** It goes on after most of these, as when it connects again; some versions end after a limit without any other event. */
  trouble(message: string): TranscriptEvent[] {
    if (readLimit(message, placeIn(this.#zone)) !== null) this.#failure = this.#failureOf(message);
    return [noteEvent(message)];
  }

  /** Its turn has failed. */
  fail(message: string, status?: number): void {
    this.#failure = this.#failureOf(message, status);
  }

  /** Its turn has ended well, whatever came before. */
  succeed(): void {
    this.#failure = undefined;
  }

  end(): TranscriptEnd {
    return {
      ...(this.#answer === undefined ? {} : { output: this.#answer }),
      ...(this.#failure === undefined ? {} : { failure: this.#failure }),
    };
  }

  /** `exec --json` has the status in the text only. */
  #failureOf(message: string, status?: number): TaskFailure {
    const named = /\bstatus(?:_code)?\W{1,3}(\d{3})\b/.exec(message)?.[1];
    return reportedFailure({ message, status: status ?? (named === undefined ? null : Number(named)), zone: this.#zone });
  }
}

/** What a thread used since; a total that is smaller than the one before counts from its own beginning. */
export function usageSince(total: AgentUsage, before: AgentUsage | null): AgentUsage {
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
