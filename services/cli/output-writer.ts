import type { TaskOutput } from './follow-task.ts';
import type { TaskView } from './task-view.ts';
import type { Terminal } from './terminal.ts';

/** What is worth a line while one waits; the rest is the ordinary course of a task. */
const SETBACKS: Readonly<Record<string, string>> = { failed: 'failed', timeout: 'took too long' };

/** Whether somebody who waits wants to know why. */
export function isSetback(status: string): boolean {
  return Object.hasOwn(SETBACKS, status);
}

/** OutputWriter is responsible for the output of all attempts on one stdout, so that a reader sees where each begins. */
export class OutputWriter {
  readonly #terminal: Terminal;
  #attempt = 0;
  #seq = 0;
  /** Of the run that writes now. */
  #text = '';
  #isLineOpen = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  write({ attempt, seq, text }: TaskOutput): void {
    // A worker that was drained hands its attempt over: the next run has its number, and counts from the beginning.
    if (attempt !== this.#attempt || seq <= this.#seq) {
      if (this.#text !== '') this.#begin(`attempt ${attempt} begins anew`);
      this.#attempt = attempt;
    }
    this.#seq = seq;
    this.#put(text);
  }

  /** Tells of an attempt that came to nothing, and why where that is known. */
  setback(status: string, reason: string | null): void {
    this.#remark(`${SETBACKS[status] ?? status}, will be tried again${reason === null ? '' : `: ${reason}`}`);
  }

  /** Adds what the record has and the stream had not: streaming is best effort, and some agents only answer at their end. */
  complete({ status, output }: TaskView): void {
    if (status === 'completed' && output && output !== this.#text) {
      if (!output.startsWith(this.#text)) this.#begin('the whole output:');
      this.#put(output.slice(this.#text.length));
    }
    this.finish();
  }

  /** Ends a line that was left open. */
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
