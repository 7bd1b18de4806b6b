import type { FinishReason } from '../../config/index.ts';
import { addPiece, NO_TEXT, type OutcomeKind, type Task } from '../../tasks/index.ts';
import type { DeliveryStorage } from '../delivery-store.ts';

/** Entries read at once. */
const PAGE = 500;

/**
 * OutputReader is responsible for what a task's current attempt has written so far, read from its output stream piece by piece. A later
 * attempt's text replaces the previous attempt's.
 */
export class OutputReader {
  readonly #storage: DeliveryStorage;
  readonly #key: string;
  #after: string | null = null;
  #written = NO_TEXT;

  constructor(storage: DeliveryStorage, tenant: string, task: string) {
    this.#storage = storage;
    this.#key = storage.keys.tenant(tenant).output(task);
  }

  /** Reads what came since the last call. Returns the complete text. */
  async read(): Promise<string> {
    for (;;) {
      const start = this.#after === null ? '-' : `(${this.#after}`;
      const entries = await this.#storage.redis.xrange(this.#key, start, '+', 'COUNT', PAGE);
      for (const [id, fields] of entries) {
        this.#take(fields);
        this.#after = id;
      }
      if (entries.length < PAGE) break;
    }
    return this.#written.text;
  }

  #take(fields: readonly string[]): void {
    const [, , , seq = '', , text = ''] = fields;
    this.#written = addPiece(this.#written, { seq: Number(seq), text });
  }
}

/** What Markdown would run together or take for marks. */
const NEEDS_BLOCK = /\n\s*\S|^\s|[*_`~#|<>[\]\\]/;
const TICKS = /`{3,}/g;

/** An agent's text as a chat gets it, in Markdown: the plain output of a program is a block of code, unless it looks the same without. */
export function chatText(text: string, isPlain: boolean): string {
  const trimmed = text.trimEnd();
  if (!isPlain || !NEEDS_BLOCK.test(trimmed) || trimmed.trim() === '') return text;
  const longest = (trimmed.match(TICKS) ?? []).reduce((max, { length }) => Math.max(max, length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${trimmed}\n${fence}`;
}

export const NO_ANSWER = '(no answer)';

/** Added to the part of an answer that a chat saw before it was cut short; nothing when it saw nothing. */
const CUT_SHORT: Readonly<Partial<Record<OutcomeKind, string>>> = { superseded: 'interrupted', cancelled: 'stopped' };
/** The outcomes that end a message unanswered. A message that went into another task's input gets no text. */
const NOT_RUN: Readonly<Partial<Record<OutcomeKind, string>>> = {
  rejected: 'not taken',
  dropped: 'dropped',
  expired: 'not started in time',
};

/**
 * What a chat gets at the end of a task; null for nothing. `shown`: what the chat saw so far of the answer, null when it saw
 * nothing.
 */
export function endingText({ state, output }: Pick<Task, 'state' | 'output'>, shown: string | null): string | null {
  if (state.status === 'completed') return withEnding(orNoAnswer(output), state.finishReason);
  if (state.status === 'permanently_failed') return failureText(state.error?.code ?? 'unknown error', shown);
  return outcomeText(state.outcome?.kind ?? 'cancelled', state.outcome?.reason ?? '', shown);
}

/** The text that the chat saw stays, with a line that nothing follows. */
function failureText(code: string, shown: string | null): string {
  if (shown === null || shown.trim() === '') return `Sorry, this did not work (${code}).`;
  return `${shown.trimEnd()}\n\n(Sorry, the answer broke off here: ${code}.)`;
}

/** Under an answer that is less than the model would have said. */
const TRUNCATED: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'The answer was cut here: it reached its limit of length.',
  content_filter: 'The answer was cut here by a content filter.',
};

function withEnding(text: string, finishReason: FinishReason | undefined): string {
  const words = finishReason === undefined ? undefined : TRUNCATED[finishReason];
  return words === undefined ? text : `${text.trimEnd()}\n\n(${words})`;
}

function orNoAnswer(output: string | null): string {
  return output === null || output.trim() === '' ? NO_ANSWER : output;
}

function outcomeText(kind: OutcomeKind, reason: string, shown: string | null): string | null {
  const cut = CUT_SHORT[kind];
  if (cut !== undefined) return shown === null ? null : `${shown.trimEnd()}\n\n(${cut})`.trim();
  const notRun = NOT_RUN[kind];
  return notRun === undefined ? null : `(${notRun}${reason === '' ? '' : `: ${reason}`})`;
}
