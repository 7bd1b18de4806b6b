import { createWriteStream } from 'node:fs';
import { lstat, mkdir, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import type { KeptPlaces } from './kept-places.ts';
import { isWithin, MAX_DEPTH, MAX_ENTRIES } from './list-kept.ts';

/**
 * Puts what an archive has into the folders of another attempt, in which nothing runs yet. The program of the attempt before had the rights to write
 * into that archive what it liked: nothing of it leaves these folders, or follows a link. Files that are there stay, unless they are a part of what is
 * kept. Resolves with how many entries of a working folder there were. Rejects with what is wrong with an archive.
 */
export async function unpackKept(archive: AsyncIterable<Uint8Array>, places: KeptPlaces): Promise<number> {
  return await new Unpacking(places).run(archive);
}

interface Target {
  readonly top: string;
  readonly path: string;
}

class Unpacking {
  readonly #places: KeptPlaces;
  #bytes = 0;
  #entries = 0;
  #ofWork = 0;
  readonly #folders = new Set<string>();
  /** They come last, so that nothing is written through one. */
  readonly #links: { target: Target; to: string }[] = [];

  constructor(places: KeptPlaces) {
    this.#places = places;
  }

  async run(archive: AsyncIterable<Uint8Array>): Promise<number> {
    const entries = extract();
    const bounded = boundBytes(this.#places.maxBytes + HEADER_BYTES * MAX_ENTRIES);
    // Its error is that of `entries`, which are read here.
    pipeline(Readable.from(archive), createGunzip(), bounded).catch((error: unknown) => {
      entries.destroy(error instanceof Error ? error : new Error(String(error)));
    });
    bounded.pipe(entries);
    for await (const entry of entries) {
      this.#count(entry.header);
      await this.#put(entry.header, Readable.from(entry));
      entry.resume();
    }
    for (const { target, to } of this.#links) {
      await this.#openFolder(target.top, dirname(target.path));
      await symlink(to, join(target.top, target.path)).catch(ignoreExisting);
    }
    return this.#ofWork;
  }

  #count({ size }: Header): void {
    this.#bytes += size;
    this.#entries += 1;
    if (this.#bytes > this.#places.maxBytes) throw new Error(`it has more than ${this.#places.maxBytes} bytes`);
    if (this.#entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
  }

  async #put({ name, type, mode, mtime, linkname, size }: Header, content: Readable): Promise<void> {
    const target = this.#targetOf(name);
    if (target === null) return;
    if (type === 'directory') return await this.#openFolder(target.top, target.path);
    if (type === 'symlink' && isWithin(target.path, linkname)) return void this.#links.push({ target, to: linkname });
    if (type !== 'file') return;
    await this.#openFolder(target.top, dirname(target.path));
    const path = join(target.top, target.path);
    // A program that goes on in the same place may have written more of its session than was kept.
    if (await isThere(path, size)) return;
    await pipeline(content, createWriteStream(path, { flags: name.startsWith('session/') ? 'w' : 'wx', mode: (mode & 0o777) | 0o600 }));
    await utimes(path, mtime, mtime);
  }

  /** Where an entry belongs; null for one that is not wanted. Throws for a name that leads elsewhere. */
  #targetOf(name: string): Target | null {
    const parts = name.replace(/\/$/, '').split('/');
    if (parts.length > MAX_DEPTH + 2 || parts.some((part) => ['', '.', '..'].includes(part) || part.includes('\0')))
      throw new Error(`it has an entry "${name.slice(0, 100)}"`);
    const [kind, ...path] = parts;
    if (path.length === 0) return null;
    if (kind === 'work') return this.#inWork(path.join('/'));
    return kind === 'session' ? this.#inSession(path) : null;
  }

  #inWork(path: string): Target | null {
    const { work, leaveOut } = this.#places;
    const isLeftOut = leaveOut.some((each) => path === each || path.startsWith(`${each}/`));
    if (work === null || isLeftOut) return null;
    this.#ofWork += 1;
    return { top: work, path };
  }

  #inSession([name = '', ...rest]: readonly string[]): Target | null {
    const { session } = this.#places;
    const path = [name, ...rest].join('/');
    if (session === null || !session.names.includes(name) || !new RegExp(session.files).test(path)) return null;
    const { folder, place } = session;
    return { top: folder, path: place === null ? path : path.replace(new RegExp(place.from), () => place.to) };
  }

  /** Makes a folder and those above it below the top. Throws where one of them is a link. */
  async #openFolder(top: string, path: string): Promise<void> {
    if (this.#folders.has(join(top, path))) return;
    if (path === '.') await mkdir(top, { recursive: true, mode: 0o700 });
    else {
      await this.#openFolder(top, dirname(path));
      await mkdir(join(top, path), { mode: 0o700 }).catch(ignoreExisting);
      if (!(await lstat(join(top, path))).isDirectory()) throw new Error(`"${path}" is no folder`);
    }
    this.#folders.add(join(top, path));
  }
}

/** Of a header in an archive, with what it says of a long name. */
const HEADER_BYTES = 2048;

function boundBytes(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform: (piece: Uint8Array, _encoding, done) => {
      bytes += piece.length;
      if (bytes > maxBytes) done(new Error(`it has more than ${maxBytes} bytes`));
      else done(null, piece);
    },
  });
}

async function isThere(path: string, bytes: number): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found !== null && (!found.isFile() || found.size >= bytes);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}
