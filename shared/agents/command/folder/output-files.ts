import { type Stats, constants } from 'node:fs';
import { access, lstat, open, opendir } from 'node:fs/promises';

/** What is known of a file that a program left. */
export interface ListedFile {
  /** Its path below the folder, with slashes. The program chose it. */
  readonly name: string;
  readonly bytes: number;
}

export interface Listing {
  readonly files: readonly ListedFile[];
  /** What is no file of the program's own, and why; the first of many. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** A program may leave any number of entries, at any depth, with names of any length. */
const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 32;
const MAX_NAME_BYTES = 1024 * 1024;
const MAX_LEFT_OUT = 20;
/** Links are not followed, and a FIFO that took the file's place blocks nobody. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const REFUSED = 'it may not be read';

interface Folder {
  readonly path: Buffer;
  readonly depth: number;
}

/** OutputFiles is responsible for what a program left in a folder: which files there are, and what is in them. It follows no link. */
export class OutputFiles {
  readonly #top: string;
  readonly #maxEntries: number;
  /** Of each file that was listed. A name need not be text, so these are bytes. */
  #paths: Buffer[] = [];
  #files: ListedFile[] = [];
  #leftOut: LeftOut[] = [];
  #folders: Folder[] = [];

  constructor(folder: string, maxEntries = MAX_ENTRIES) {
    this.#top = folder;
    this.#maxEntries = maxEntries;
  }

  /** Regular files with one name, those near the top first. */
  async list(): Promise<Listing> {
    [this.#paths, this.#files, this.#leftOut] = [[], [], []];
    this.#folders = [{ path: Buffer.from(this.#top), depth: 0 }];
    let [entries, nameBytes] = [0, 0];
    for (let folder = this.#folders.shift(); folder !== undefined; folder = this.#folders.shift()) {
      const names = await readNames(folder.path, this.#maxEntries - entries + 1);
      if (names === null) this.#leaveOut(this.#nameOf(folder.path), REFUSED);
      for (const name of names ?? []) {
        const path = Buffer.concat([folder.path, Buffer.from('/'), name]);
        [entries, nameBytes] = [entries + 1, nameBytes + path.length];
        if (entries > this.#maxEntries || nameBytes > MAX_NAME_BYTES) {
          return { files: this.#files, leftOut: [...this.#leftOut, { name: 'further files', reason: 'there are too many' }] };
        }
        await this.#add(path, folder.depth);
      }
    }
    return { files: this.#files, leftOut: this.#leftOut };
  }

  /** A piece of a listed file; empty at its end. Rejects when that is no file of its own any more. */
  async read(index: number, offset: number, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
    const path = this.#paths[index];
    if (path === undefined) throw new Error(`no file ${index} was listed`);
    const file = await open(path, READ);
    try {
      const problem = problemOf(await file.stat());
      if (problem !== null) throw new Error(`it changed since it was listed: ${problem}`);
      const piece = Buffer.allocUnsafe(maxBytes);
      const { bytesRead } = await file.read(piece, 0, maxBytes, offset);
      return piece.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async #add(path: Buffer, depth: number): Promise<void> {
    const name = this.#nameOf(path);
    const found = await lstat(path).catch(() => null);
    if (found?.isDirectory()) {
      if (depth < MAX_DEPTH) this.#folders.push({ path, depth: depth + 1 });
      else this.#leaveOut(name, `it is more than ${MAX_DEPTH} folders deep`);
      return;
    }
    const problem = found === null ? 'it is gone' : (problemOf(found) ?? ((await mayAccess(path, constants.R_OK)) ? null : REFUSED));
    if (problem !== null) return this.#leaveOut(name, problem);
    this.#paths.push(path);
    this.#files.push({ name, bytes: found?.size ?? 0 });
  }

  #nameOf(path: Buffer): string {
    return path.subarray(Buffer.byteLength(this.#top) + 1).toString('utf8') || '.';
  }

  #leaveOut(name: string, reason: string): void {
    if (this.#leftOut.length < MAX_LEFT_OUT) this.#leftOut.push({ name, reason });
  }
}

/** Why it is not taken: it may lead to, or be, what is not the program's own. */
function problemOf(found: Stats): string | null {
  if (found.isSymbolicLink()) return 'it is a link';
  if (!found.isFile()) return 'it is no file';
  // A link to a file elsewhere looks like that.
  return found.nlink === 1 ? null : 'the file has other names';
}

async function mayAccess(path: Buffer, mode: number): Promise<boolean> {
  return await access(path, mode).then(
    () => true,
    (error: unknown) => !(error instanceof Error && 'code' in error && error.code === 'EACCES'),
  );
}

/** At most `max` names, sorted; null where they may not be read. None where a link or nothing has taken the place of the folder. */
async function readNames(folder: Buffer, max: number): Promise<Buffer[] | null> {
  if (!(await lstat(folder).catch(() => null))?.isDirectory()) return [];
  if (!(await mayAccess(folder, constants.R_OK | constants.X_OK))) return null;
  const names: Buffer[] = [];
  // In this encoding every byte is a character.
  for await (const { name } of await opendir(folder, { encoding: 'latin1' })) {
    names.push(Buffer.from(name, 'latin1'));
    if (names.length >= max) break;
  }
  return names.toSorted((a, b) => Buffer.compare(a, b));
}
