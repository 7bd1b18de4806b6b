import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MusterError } from '../../errors/index.ts';
import { orUnavailable } from './disk-failure.ts';
import type { SpooledFile } from './file-storage.ts';

/** The bytes of a file as they come. */
export type FileSource = AsyncIterable<Uint8Array>;

/** No file takes so long to arrive: an older one was left by a process that died. */
const LEFT_BEHIND_MS = 3_600_000;

/** Spool is responsible for writing files that arrive to this machine's disk, within a bound, before anything else learns of them. */
export class Spool {
  readonly #folder: string;
  #opened: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a file and hands it to `use`; it is removed afterwards. Errors: `request.too-large`, `unavailable.files`, and those of the source. */
  async with<T>(source: FileSource, maxBytes: number, use: (file: SpooledFile) => Promise<T>): Promise<T> {
    // A folder that could not be made may be possible later.
    this.#opened ??= orUnavailable(() => this.#open()).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
    const path = join(this.#folder, randomUUID());
    try {
      return await use({ path, bytes: await this.#write(path, source, maxBytes) });
    } finally {
      await rm(path, { force: true }).catch(() => undefined);
    }
  }

  async #write(path: string, source: FileSource, maxBytes: number): Promise<number> {
    const handle = await orUnavailable(() => open(path, 'wx', 0o600)).catch((error: unknown) => {
      // Somebody may have removed the folder.
      this.#opened = undefined;
      throw error;
    });
    return await writeSource(handle, source, maxBytes);
  }

  async #open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => null);
      if (found !== null && Date.now() - found.mtimeMs > LEFT_BEHIND_MS) await rm(path, { force: true });
    }
  }
}

async function writeSource(handle: FileHandle, source: FileSource, maxBytes: number): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw fileTooLarge(maxBytes);
      await orUnavailable(() => writeAll(handle, chunk));
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) written += (await handle.write(chunk, written)).bytesWritten;
}

export function fileTooLarge(maxBytes: number): MusterError {
  return new MusterError('request.too-large', `The file has more than ${maxBytes} bytes`, { details: { maxBytes } });
}
