import type { TaskOutput } from '../client/follow-stream.ts';
import type { TaskView } from '../commands/tasks/task-view.ts';
import type { Terminal } from './terminal.ts';

/** The states that get a line of their own while a person waits. */
const SETBACKS: Readonly<Record<string, string>> = { failed: 'failed', timeout: 'took too long' };

export function isSetback(status: string): boolean {
  return Object.hasOwn(SETBACKS, status);
}

/** OutputWriter is responsible for writing the output of all attempts to stdout, so that a reader sees where each begins. */
export class OutputWriter {
  readonly #terminal: Terminal;
  #attempt = 0;
  #seq = 0;
  /** The output of the current run. */
  #text = '';
  #isLineOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  write({ attempt, seq, text }: TaskOutput): void {
    // An attempt that a draining worker handed over keeps its number, and its output starts again.
    if (attempt !== this.#attempt || seq <= this.#seq) {
      if (this.#text !== '') this.#begin(`attempt ${attempt} starts again`);
      this.#attempt = attempt;
    }
    this.#seq = seq;
    this.#put(text);
  }

  /** Reports a failed attempt, with its reason where that is known. */
  reportSetback(status: string, reason: string | null): void {
    this.#remark(`${SETBACKS[status] ?? status}, will be retried${reason === null ? '' : `: ${reason}`}`);
  }

  /**
   * Adds output that is in the record only: streaming is best effort, and some agents answer only at their end. Of an agent without any output, its
   * result.
   */
  complete({ status, output, result }: TaskView): void {
    if (status === 'completed' && output) this.#addMissing(output);
    if (status === 'completed' && !output && result !== undefined && result !== null) this.#put(JSON.stringify(result, null, 2));
    this.finish();
  }

  /** Coding agents put blank lines around each text of theirs, and their record has the last one without these. */
  #addMissing(output: string): void {
    const shown = this.#text.trimEnd();
    if (`\n${shown}`.endsWith(`\n${output.trim()}`)) return;
    if (output.startsWith(this.#text)) return this.#put(output.slice(this.#text.length));
    // The blank at the end of what is shown stands where the rest begins.
    if (output.startsWith(shown)) return this.#put(output.slice(shown.length).trimStart());
    this.#begin('the complete output:');
    this.#put(output);
  }

  /** Ends an open line. */
  finish(): void {
    if (this.#isLineOpen) this.#terminal.line('');
    this.#isLineOpen = false;
  }

  #put(text: string): void {
    if (text === '') return;
    this.#text += text;
    this.#terminal.content(text);
    this.#isLineOpen = !text.endsWith('\n');
  }

  #begin(remark: string): void {
    this.#remark(remark);
    this.#text = '';
  }

  #remark(text: string): void {
    this.finish();
    this.#terminal.note(this.#terminal.paintNote(text, 'yellow'));
  }
}
