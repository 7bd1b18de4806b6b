import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const STDOUT = 1;
const NOTHING = Buffer.alloc(0);
/** Before a pipe that is full is tried again. */
const BUSY_MS = 20;
/** For so many tries the end of the process waits for a reader. */
const EXIT_TRIES = 50;

/**
 * StdoutWriter is responsible for the lines that a process writes to stdout, one write after the other beside its work. Once its terminal is
 * closed or nobody reads its pipe, it drops them, so that the process goes on and can stop in order.
 */
export class StdoutWriter implements DestinationStream {
  readonly #fd: number;
  /** Lines that no write has taken. */
  #lines = '';
  /** What the last write has taken, as far as it is not written. */
  #rest: Buffer = NOTHING;
  #isWriting = false;
  #retry: NodeJS.Timeout | undefined;
  #isLost = false;
  #isUsed = false;

  /** `fd`: a file of another number. */
  constructor(fd = STDOUT) {
    this.#fd = fd;
  }

  write(lines: string): void {
    if (this.#isLost) return;
    if (!this.#isUsed) process.once('exit', () => this.flushSync());
    this.#isUsed = true;
    this.#lines += lines;
    if (!this.#isWriting && this.#retry === undefined) this.#writeNext();
  }

  /** Writes what waits before it returns, for a process that ends. Its last write under way is left to that. */
  flushSync(): void {
    let left = Buffer.concat([this.#isWriting ? NOTHING : this.#rest, Buffer.from(this.#lines)]);
    this.#lines = '';
    if (!this.#isWriting) this.#rest = NOTHING;
    for (let tries = 0; left.length > 0 && tries < EXIT_TRIES; tries += 1) {
      try {
        left = left.subarray(writeSync(this.#fd, left));
      } catch (error) {
        if (!isBusy(error)) return;
        sleep(BUSY_MS);
      }
    }
  }

  #writeNext(): void {
    this.#retry = undefined;
    if (this.#rest.length === 0) {
      this.#rest = Buffer.from(this.#lines);
      this.#lines = '';
    }
    if (this.#rest.length === 0) return;
    this.#isWriting = true;
    write(this.#fd, this.#rest, (error, written) => {
      this.#isWriting = false;
      this.#rest = this.#rest.subarray(written);
      if (error === null) this.#writeNext();
      else if (isBusy(error)) this.#retry = setTimeout(() => this.#writeNext(), BUSY_MS);
      else this.#lose(error);
    });
  }

  #lose(error: Error): void {
    if (!isLostReader(error)) throw error;
    this.#isLost = true;
    this.#lines = '';
    this.#rest = NOTHING;
  }
}

/** Whether a write failed because a terminal is closed, or nobody reads a pipe any more. */
export function isLostReader(error: unknown): boolean {
  return hasCodeOf(error, ['EIO', 'EPIPE']);
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
