import pino, { type DestinationStream } from 'pino';
import { StdoutWriter } from './stdout-writer.ts';

/** How long a line may wait for others. */
const GATHER_MS = 10;
/** Characters that wait at most. */
const MAX_CHARACTERS = 65_536;

/**
 * LineGatherer is responsible for writing many lines at once: a write of its own costs more than all else of a line. A warning or an error
 * is written when it is logged, and with it what came before.
 */
export class LineGatherer implements DestinationStream {
  /** Asks pino for `lastLevel` before each line. */
  readonly [pino.symbols.needsMetadataGsym] = true;
  lastLevel: number = pino.levels.values['info'] ?? 0;
  readonly #target: DestinationStream;
  #lines = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(target: DestinationStream) {
    this.#target = target;
  }

  write(line: string): void {
    this.#lines += line;
    if (this.lastLevel >= WARN || this.#lines.length >= MAX_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Hands on what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#target.write(lines);
  }
}

const WARN = pino.levels.values['warn'] ?? 0;

/** Gathers what goes to stdout. What waits when the process exits is written then; of a killed process it is lost. */
export function gatherStdout(): LineGatherer {
  const gatherer = new LineGatherer(new StdoutWriter());
  // Before the writer's own listener, which writes what it holds.
  process.prependListener('exit', () => gatherer.flush());
  return gatherer;
}
