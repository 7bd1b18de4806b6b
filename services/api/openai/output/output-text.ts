import { textFrom } from './run-answer.ts';

/** What readers of a text are told while it grows: a further piece, or that all of it (`shown`) is begun again. */
export type TextStep = { readonly kind: 'delta'; readonly text: string } | { readonly kind: 'restart'; readonly shown: string };

/** An entry of a run's output. Its number says where it belongs: a run that begins again counts from where it does. */
export interface OutputEntry {
  readonly seq: number;
  readonly text: string;
}

/** Characters of one piece. */
const MAX_PIECE = 12;

/**
 * OutputText is responsible for the pieces in which a task's output is told. Where a piece ends is told by the text alone: a reader who comes later, when only the record is kept,
 * gets the same pieces as one who read along. An attempt that begins again is behind what was shown as long as it writes the same.
 */
export class OutputText {
  /** What readers have. */
  #shown = '';
  /** What the run has written, as far as it is here without a gap. */
  #text = '';
  /** Where in it each entry begins. */
  readonly #starts: number[] = [];
  /** So many characters of both are the same. */
  #same = 0;
  readonly #from: number;

  /** `from`: where in the output of the run its text begins. */
  constructor(from = 0) {
    this.#from = from;
  }

  /** Takes entries of the output. `to`: where in the output of the run its text ends, once that is known. */
  take(entries: readonly OutputEntry[], to = Infinity): TextStep[] {
    return entries.flatMap((entry) => this.#takeOne(entry, to));
  }

  /** Takes all of the text, at its end. */
  end(text: string): TextStep[] {
    this.#same = 0;
    return this.#show(text, true);
  }

  #takeOne({ seq, text }: OutputEntry, to: number): TextStep[] {
    const next = this.#starts.length + 1;
    // One before it was lost, or is not kept any more: the record will have it.
    if (seq > next || seq < 1) return [];
    if (seq < next) this.#cut(seq);
    this.#starts.push(this.#text.length);
    this.#text += text;
    return this.#show(textFrom(this.#text.slice(0, to), this.#from), false);
  }

  #cut(seq: number): void {
    this.#text = this.#text.slice(0, this.#starts[seq - 1]);
    this.#starts.length = seq - 1;
    this.#same = 0;
  }

  #show(text: string, isEnd: boolean): TextStep[] {
    const steps: TextStep[] = [];
    if (this.#differs(text, isEnd)) {
      steps.push({ kind: 'restart', shown: this.#shown });
      this.#shown = '';
    }
    for (;;) {
      const from = this.#shown.length;
      const end = endOfPiece(text, from, isEnd);
      if (end === null) break;
      const piece = text.slice(from, end);
      this.#shown += piece;
      steps.push({ kind: 'delta', text: piece });
    }
    this.#same = Math.min(this.#shown.length, text.length);
    return steps;
  }

  #differs(text: string, isEnd: boolean): boolean {
    const length = Math.min(this.#shown.length, text.length);
    if (isEnd && this.#shown.length > text.length) return true;
    return text.slice(this.#same, length) !== this.#shown.slice(this.#same, length);
  }
}

const SPACE = /\s/;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/** Where the piece ends that begins at `from`: before the next word, at most `MAX_PIECE` characters on. Null where that is not known yet. */
function endOfPiece(text: string, from: number, isEnd: boolean): number | null {
  for (let at = from + 1; at < text.length && at < from + MAX_PIECE; at += 1) {
    if (SPACE.test(text.charAt(at - 1)) && !SPACE.test(text.charAt(at))) return at;
  }
  const longest = from + MAX_PIECE;
  // The two halves of a character stay together.
  if (text.length >= longest) return HIGH_SURROGATE.test(text.charAt(longest - 1)) ? longest - 1 : longest;
  return isEnd && text.length > from ? text.length : null;
}
