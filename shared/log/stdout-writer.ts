import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { LineBuffer } from './line-buffer.ts';

const STDOUT = 1;
/** Before a pipe that is full is tried again. */
const BUSY_MS = 20;
const EXIT_MS = 5000;

/**
 * StdoutWriter is responsible for the lines that a process writes to stdout. A line is written when it is logged, because the last lines of
 * a process matter most. While its pipe is full they wait, up to a bound; once nobody reads any more it drops them, so that the process
 * goes on and can stop in order.
 */
export class StdoutWriter implements DestinationStream {
  readonly #fd: number;
  readonly #exitMs: number;
  readonly #waiting = new LineBuffer();
  #retry: NodeJS.Timeout | undefined;
  #isLost = false;
  #isUsed = false;
  /** When the end of the process waits no longer, by `performance.now()`; undefined before the end. */
  #exitBy: number | undefined;

  /** `fd`: a file of another number. `exitMs`: how long the end of the process waits for a reader. */
  constructor(fd = STDOUT, exitMs = EXIT_MS) {
    this.#fd = fd;
    this.#exitMs = exitMs;
  }

  write(lines: string): void {
    if (this.#isLost) return;
    if (!this.#isUsed) this.#open();
    const isFirst = this.#waiting.isEmpty;
    this.#waiting.add(lines);
    if (this.#exitBy !== undefined) this.#writeUntil(this.#exitBy);
    else if (isFirst) this.#writeOrRetry();
  }

  /**
   * Writes what waits before it returns, for a process that ends; what nobody reads in time is lost. Not named `flushSync`, which pino calls
   * after each fatal line: a process that fails drains first.
   */
  end(): void {
    this.#exitBy ??= performance.now() + this.#exitMs;
    this.#writeUntil(this.#exitBy);
  }

  #open(): void {
    this.#isUsed = true;
    // Node opens the pipe as one that does not block, so that a reader that pauses stops no work.
    if (this.#fd === STDOUT) process.stdout.on('error', ignoreLostReader);
    process.once('exit', () => this.end());
  }

  #writeOrRetry(): void {
    this.#retry = undefined;
    // Waiting for a reader keeps no process running: its exit writes the rest.
    if (!this.#writeNow()) this.#retry = setTimeout(() => this.#writeOrRetry(), BUSY_MS).unref();
  }

  #writeUntil(deadline: number): void {
    clearTimeout(this.#retry);
    while (!this.#writeNow() && performance.now() < deadline) sleep(BUSY_MS);
  }

  /** Writes as much as the pipe takes. Returns whether nothing waits any more. */
  #writeNow(): boolean {
    while (!this.#waiting.isEmpty) {
      try {
        this.#waiting.consume(writeSync(this.#fd, this.#waiting.first));
      } catch (error) {
        if (isBusy(error)) return false;
        this.#lose(error);
      }
    }
    return true;
  }

  #lose(error: unknown): void {
    if (!isLostReader(error) && this.#exitBy === undefined) throw error;
    this.#isLost = true;
    this.#waiting.clear();
  }
}

/** Whether a write failed because a terminal is closed, or nobody reads a pipe any more. */
export function isLostReader(error: unknown): boolean {
  return hasCodeOf(error, ['EIO', 'EPIPE']);
}

function ignoreLostReader(error: Error): void {
  if (!isLostReader(error)) throw error;
}

function isBusy(error: unknown): boolean {
  return hasCodeOf(error, ['EAGAIN', 'EBUSY']);
}

function hasCodeOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/** At the exit of a process no timer runs any more. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
