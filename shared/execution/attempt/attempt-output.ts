import type { AgentLog } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { appendOutput, type Ledger, shortenOutput } from '../../ledger/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

export interface AttemptOutputOptions {
  ledger: Ledger;
  log: AgentLog;
  attempt: RunningAttempt;
  /** The attempt's number. */
  number: number;
  /** Whether readers may come as long as the task is kept, and read what they would have read before. */
  isReplayed?: boolean;
}

/** Text written within this time becomes one entry: quick enough to read along, and not an entry per word. */
const FLUSH_MS = 50;
/** Bytes of one entry. */
const ENTRY_BYTES = 16_384;
/** The first half of a character beyond the first 65,536, at the end. */
const OPEN_PAIR = /[\uD800-\uDBFF]$/;

/**
 * AttemptOutput is responsible for what an agent writes: it keeps all of it for the record, within a bound, and streams it in small
 * entries to readers. Streaming is best effort; the record is complete.
 */
export class AttemptOutput {
  readonly #options: AttemptOutputOptions;
  readonly #parts: string[] = [];
  #bytes = 0;
  #pending = '';
  #seq = 0;
  /** Entries, and characters, that earlier attempts wrote; and the one at which the run is. */
  #before = 0;
  #replayed = 0;
  #position = 0;
  /** What was written since the last mark. */
  #unmarked: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The entries under way; undefined until the first. */
  #sending: Promise<void> | undefined;

  constructor(options: AttemptOutputOptions) {
    this.#options = options;
  }

  /** Everything written so far. */
  get text(): string {
    return this.#parts.join('');
  }

  /** Throws `OUTPUT_TOO_LARGE` over the bound, and the stop's reason once the attempt was stopped. */
  write(written: string): void {
    const text = this.#dropReplayed(written);
    if (text === '' && written !== '') return;
    this.#keep(text);
    this.#pending += text;
    if (this.#pending.length >= ENTRY_BYTES) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), FLUSH_MS);
  }

  /** Goes on after what an attempt of another process has written. */
  resume({ text, seq }: { text: string; seq: number }): void {
    this.#parts.push(text);
    this.#bytes += Buffer.byteLength(text);
    this.#seq = Math.max(this.#seq, seq);
  }

  /** Goes on after what earlier attempts wrote: what is written again up to there is dropped. */
  replay({ text, seq }: { text: string; seq: number }): void {
    this.resume({ text, seq });
    this.#before = seq;
    this.#replayed = text.length;
  }

  /** What was written up to there will not be written again. `characters`: of all text. */
  skipTo(characters: number): void {
    this.#position = Math.max(this.#position, characters);
  }

  /** Ends an entry here. Returns what was written since the last mark, and the number of the entry. */
  mark(): { text?: string; output: number } {
    this.#send(true);
    const text = this.#unmarked.splice(0).join('');
    return { ...(text === '' ? {} : { text }), output: this.#seq };
  }

  /** How many entries the attempt has written itself. */
  get seq(): number {
    return this.#seq - this.#before;
  }

  /** Writes an entry that has its number among those of the attempt already; drops one that was written before. Throws as `write` does. */
  writeEntry(own: number, text: string): void {
    const seq = this.#before + own;
    if (seq <= this.#seq) return;
    this.#keep(text);
    this.#seq = seq;
    this.#sending = (this.#sending ?? Promise.resolve()).then(() => this.#append(seq, text));
  }

  /** Sends what is left and waits until it is written. Never throws. */
  async end(): Promise<void> {
    this.#send(true);
    await this.#sending;
  }

  /** Lets the stream go early where the record of the task says all of it. */
  async completed(output: string): Promise<void> {
    const { ledger, attempt, isReplayed = false } = this.#options;
    const isFirst = attempt.ref.token === 1;
    if (isReplayed && isFirst && output === this.text) await shortenOutput(ledger, attempt.ref).catch(() => undefined);
  }

  #dropReplayed(text: string): string {
    const known = Math.max(0, this.#replayed - this.#position);
    this.#position += text.length;
    return known === 0 ? text : text.slice(known);
  }

  #keep(text: string): void {
    const { attempt, ledger } = this.#options;
    attempt.throwIfStopped();
    this.#bytes += Buffer.byteLength(text);
    const max = ledger.settings.tasks.maxOutputBytes;
    if (this.#bytes > max) throw new TaskFailure('OUTPUT_TOO_LARGE', `The output is larger than ${max} bytes`);
    this.#parts.push(text);
    this.#unmarked.push(text);
  }

  #send(isLast = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The two halves of a character must not become two entries, which no reader could decode.
    const held = !isLast && OPEN_PAIR.test(this.#pending) ? this.#pending.slice(-1) : '';
    const text = this.#pending.slice(0, this.#pending.length - held.length);
    if (text === '') return;
    this.#pending = held;
    this.#seq += 1;
    const seq = this.#seq;
    this.#sending = (this.#sending ?? Promise.resolve()).then(() => this.#append(seq, text));
  }

  async #append(seq: number, text: string): Promise<void> {
    const { ledger, attempt, number, log, isReplayed = false } = this.#options;
    if (attempt.stopped?.kind === 'lease-lost') return;
    const keep = isReplayed ? { keepMs: ledger.settings.tasks.retentionMs } : {};
    try {
      if (!(await appendOutput(ledger, attempt.ref, { attempt: number, seq, text, ...keep }))) attempt.stop({ kind: 'lease-lost' });
    } catch (error) {
      ledger.counts.outputLost();
      log.debug({ err: error }, 'an entry of the output stream was lost; the record will have it');
    }
  }
}
