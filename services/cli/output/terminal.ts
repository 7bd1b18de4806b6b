import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { ellipsize, withoutDirections } from '#shared/text/index.ts';
import { timeText } from '#shared/time/index.ts';

export type Output = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

interface TerminalOptions {
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

  /** A line for a program that reads stdout, as it is. */
  message(text: string): void {
    this.#stdout.write(`${text}\n`);
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

/** A line may quote text of others: only the styles of `paint` are kept, only in a terminal, and nothing turns the rest of the line round. */
function printable({ isTTY }: Output, given: string): string {
  const text = withoutDirections(given);
  if (!isTTY) return plainText(text);
  return text
    .split(STYLES)
    .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
    .join('');
}

// oxlint-disable-next-line no-control-regex -- these are what it takes out
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Removes escape sequences and control characters, which would steer a terminal. Line breaks and tabs stay. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replaceAll(CONTROLS, '');
}

const UNESCAPED = /[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

/** JSON without control characters, of which `JSON.stringify` escapes only some. */
function plainJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return json.replaceAll(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Plain text on one line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  return ellipsize(withoutDirections(plainText(text)).replaceAll(/\s+/g, ' ').trim(), width);
}

const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
];

/** A duration in its largest unit, rounded down: `3m`, `2d`. Below a second, and for a clock that is behind: `0s`. */
export function shortAge(ms: number): string {
  for (const [size, name] of UNITS) if (ms >= size) return `${Math.floor(ms / size)}${name}`;
  return '0s';
}

/** A time of the API for people: `2026-05-01 09:00:00 UTC`. What is no time stays as it came. */
export function pointInTime(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : timeText(ms);
}

/** The time of day by the clock of this machine, with its zone: `14:03:22 CEST`. */
export function localTime(at: Date): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'long' }).format(at);
}
