import type { WriteStream } from 'node:tty';
import { plainJson, plainText } from './text.ts';

export type Output = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

export interface TerminalOptions {
  stdout: Output;
  stderr: Output;
  noColor: boolean;
}

export type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Style, [number, number]>> = { dim: [2, 22], bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] };

/** Terminal is responsible for what a command writes: results on stdout, which a script may read, and notes about them on stderr. */
export class Terminal {
  readonly #stdout: Output;
  readonly #stderr: Output;
  readonly #noColor: boolean;

  constructor({ stdout, stderr, noColor }: TerminalOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#noColor = noColor;
  }

  /** The width of a line; null when stdout is no terminal. */
  get columns(): number | null {
    return this.#stdout.isTTY ? (this.#stdout.columns ?? null) : null;
  }

  /** Output of an agent, without control sequences, also in a pipe, which mostly ends in a terminal. `--json` has it exactly. */
  content(text: string): void {
    this.#stdout.write(plainText(text));
  }

  line(text: string): void {
    this.#stdout.write(`${printable(this.#stdout, text)}\n`);
  }

  json(value: unknown): void {
    this.#stdout.write(`${plainJson(value)}\n`);
  }

  note(text: string): void {
    this.#stderr.write(`${printable(this.#stderr, text)}\n`);
  }

  /** For what goes to stdout. */
  paint(text: string, style: Style): string {
    return this.#paint(this.#stdout, text, style);
  }

  /** For what goes to stderr. */
  paintNote(text: string, style: Style): string {
    return this.#paint(this.#stderr, text, style);
  }

  #paint(output: Output, text: string, style: Style): string {
    if (!output.isTTY || this.#noColor) return text;
    const [on, off] = CODES[style];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  }
}

// oxlint-disable-next-line no-control-regex -- the styles of `paint`
const STYLES = /(\u001B\[(?:1|2|22|31|32|33|39)m)/;

/** A line may quote text of others, so only the styles of `paint` are kept, and only in a terminal. */
function printable({ isTTY }: Output, text: string): string {
  if (!isTTY) return plainText(text);
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
    .join('');
}
