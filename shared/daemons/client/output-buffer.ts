/** A numbered piece of an attempt's output. */
export interface OutputEntry {
  readonly seq: number;
  readonly text: string;
}

/** Characters of one entry: as JSON at most six times as many bytes, well below what a hub takes at once. */
const MAX_ENTRY = 32_768;

/**
 * OutputBuffer is responsible for the output of one attempt: numbered from 1, and kept for a hub that asks for it again. Beyond its bound
 * the oldest entries become one that says how much is missing.
 */
export class OutputBuffer {
  readonly #maxCharacters: number;
  /** Without gaps in their numbers. */
  #entries: OutputEntry[] = [];
  /** Written, and not yet an entry: what is written in quick succession becomes one. */
  #pending = '';
  #lastSeq = 0;
  #kept = 0;
  #dropped = 0;

  constructor(maxCharacters: number, entries: readonly OutputEntry[] = []) {
    this.#maxCharacters = maxCharacters;
    this.#entries = [...entries];
    this.#lastSeq = entries.at(-1)?.seq ?? 0;
    this.#kept = entries.reduce((sum, { text }) => sum + text.length, 0);
  }

  write(text: string): void {
    this.#pending += text;
    while (this.#pending.length > MAX_ENTRY) this.#seal();
  }

  /** The first entry after this number; null when there is none. */
  after(seq: number): OutputEntry | null {
    const first = this.#entries[0]?.seq ?? this.#lastSeq + 1;
    const found = this.#entries[Math.max(0, seq + 1 - first)];
    if (found !== undefined || this.#pending === '') return found ?? null;
    this.#seal();
    return this.#entries.at(-1) ?? null;
  }

  /** All that is kept, oldest first. */
  entries(): readonly OutputEntry[] {
    while (this.#pending !== '') this.#seal();
    return this.#entries;
  }

  #seal(): void {
    const text = this.#pending.slice(0, endOfEntry(this.#pending));
    this.#pending = this.#pending.slice(text.length);
    this.#lastSeq += 1;
    this.#entries.push({ seq: this.#lastSeq, text });
    this.#kept += text.length;
    if (this.#kept > this.#maxCharacters) this.#dropOldest();
  }

  /** Makes room for some entries more, so that it is not done for each. */
  #dropOldest(): void {
    let count = 0;
    // The first is the note about earlier ones, when there is one.
    for (const { text } of this.#entries.slice(0, -1)) {
      if (this.#kept <= this.#maxCharacters * 0.9) break;
      if (count > 0 || this.#dropped === 0) this.#dropped += text.length;
      this.#kept -= text.length;
      count += 1;
    }
    const seq = this.#entries[count - 1]?.seq;
    if (seq === undefined) return;
    const text = `\n[${this.#dropped} characters of output are missing here: the hub was away too long]\n`;
    this.#kept += text.length;
    this.#entries.splice(0, count, { seq, text });
  }
}

/** Where an entry that begins here ends: never between the halves of a character. */
function endOfEntry(text: string): number {
  if (text.length <= MAX_ENTRY) return text.length;
  return /[\uD800-\uDBFF]/.test(text.charAt(MAX_ENTRY - 1)) ? MAX_ENTRY - 1 : MAX_ENTRY;
}
