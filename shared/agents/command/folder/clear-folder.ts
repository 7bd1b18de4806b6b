import { randomBytes } from 'node:crypto';
import { chmod, lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';

/** Entries that are removed at the same time. */
const BATCH = 64;

/**
 * Removes all that is in a folder, without following a link, however deep it is and however many entries it has: each folder below is moved
 * to the top before it is emptied, so that no path grows. Folders that a program made unwritable, as package managers do with their caches,
 * are made writable. Does nothing when there is no such folder. Rejects with the first refusal of the system, after it removed the others.
 */
export async function clearFolder(top: string): Promise<void> {
  if (!(await lstat(top).catch(() => null))?.isDirectory()) return;
  await new Clearing(top).run();
}

class Clearing {
  readonly #top: string;
  readonly #prefix = `.removed-${randomBytes(8).toString('hex')}-`;
  #moved = 0;
  readonly #problems: unknown[] = [];

  constructor(top: string) {
    this.#top = top;
  }

  async run(): Promise<void> {
    await this.#empty(Buffer.from(this.#top));
    for (let at = 1; at <= this.#moved; at += 1) {
      const folder = this.#place(at);
      await this.#attempt(() => this.#empty(folder));
      await this.#attempt(() => rmdir(folder));
    }
    if (this.#problems.length > 0) throw this.#problems[0];
  }

  async #empty(folder: Buffer): Promise<void> {
    await chmod(folder, 0o700);
    let batch: Promise<void>[] = [];
    // A name need not be text: in this encoding every byte is a character.
    for await (const entry of await opendir(folder, { encoding: 'latin1' })) {
      if (entry.name.startsWith(this.#prefix)) continue;
      const path = Buffer.concat([folder, Buffer.from('/'), Buffer.from(entry.name, 'latin1')]);
      batch.push(this.#attempt(() => (entry.isDirectory() ? this.#moveUp(path) : unlink(path))));
      if (batch.length < BATCH) continue;
      await Promise.all(batch);
      batch = [];
    }
    await Promise.all(batch);
  }

  /** A folder that changes its parent has to be writable. */
  async #moveUp(folder: Buffer): Promise<void> {
    await chmod(folder, 0o700);
    this.#moved += 1;
    await rename(folder, this.#place(this.#moved));
  }

  #place(at: number): Buffer {
    return Buffer.from(`${this.#top}/${this.#prefix}${at}`);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#problems.push(error));
  }
}
