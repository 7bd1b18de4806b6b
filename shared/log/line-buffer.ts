/** Bytes that wait at most: some seconds of a busy worker's lines. */
const MAX_BYTES = 8_388_608;
/** Lines that come one by one are written together up to this size. */
const CHUNK_BYTES = 65_536;
const NEWLINE = 10;

/**
 * LineBuffer is responsible for lines that wait for a full pipe, within a bound. Beyond it the oldest are dropped, because the last ones say
 * why a process ended, and a line in their place says how many.
 */
export class LineBuffer {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  /** Whether the beginning of a line is out already, so that its rest must follow. */
  #isBegun = false;

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** What is to be written next. Only where something waits. */
  get first(): Buffer {
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  add(lines: string): void {
    this.#append(Buffer.from(lines));
    while (this.#bytes > MAX_BYTES && this.#chunks.length > 2) this.#dropOldest();
  }

  /** Removes what was written of the first chunk. */
  consume(bytes: number): void {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return;
    this.#bytes -= bytes;
    this.#isBegun = bytes < chunk.length;
    if (this.#isBegun) this.#chunks[0] = chunk.subarray(bytes);
    else this.#chunks.shift();
    if (!this.#isBegun && this.#dropped > 0) this.#noteDropped();
  }

  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }

  #append(chunk: Buffer): void {
    const last = this.#chunks.at(-1);
    const joins = last !== undefined && this.#chunks.length > 1 && last.length + chunk.length <= CHUNK_BYTES;
    if (joins) this.#chunks[this.#chunks.length - 1] = Buffer.concat([last, chunk]);
    else this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The oldest of which nothing is out. */
  #dropOldest(): void {
    const [chunk] = this.#chunks.splice(this.#isBegun ? 1 : 0, 1);
    this.#bytes -= chunk?.length ?? 0;
    this.#dropped += chunk?.reduce((count, byte) => (byte === NEWLINE ? count + 1 : count), 0) ?? 0;
  }

  #noteDropped(): void {
    const msg = `${this.#dropped} lines were dropped, because nobody read them`;
    const line = { level: 'warn', time: new Date().toISOString(), event: 'log.dropped', lines: this.#dropped, msg };
    this.#dropped = 0;
    const note = Buffer.from(`${JSON.stringify(line)}\n`);
    this.#chunks.unshift(note);
    this.#bytes += note.length;
  }
}
