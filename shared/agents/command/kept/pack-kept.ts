import { once } from 'node:events';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { type Pack, pack as openPack } from 'tar-stream';
import type { KeptEntry } from './list-kept.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** It is written again and again, and most of it is text. */
const LEVEL = 3;

/**
 * An archive of these entries, as a tar in gzip. What grows meanwhile is cut where it was. Rejects when something became shorter or is gone, and
 * when a file of the session changed at all: half of that would be no session.
 */
export async function* packKept(entries: readonly KeptEntry[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const archive = openPack();
  const zipped: AsyncIterable<Buffer<ArrayBuffer>> & Gzip = createGzip({ level: LEVEL });
  // Both fail what reads from `zipped`.
  pipeline(Readable.from(archive), zipped).catch(() => undefined);
  addAll(archive, entries).catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  yield* zipped;
}

async function addAll(archive: Pack, entries: readonly KeptEntry[]): Promise<void> {
  for (const entry of entries) await add(archive, entry);
  for (const entry of entries.filter(({ name }) => name.startsWith('session/'))) await assertSame(entry);
  archive.finalize();
}

async function add(archive: Pack, { name, path, kind, bytes, mode, mtimeMs, target }: KeptEntry): Promise<void> {
  const header = { name, mode, mtime: new Date(mtimeMs), type: kind, size: bytes, ...(target !== undefined && { linkname: target }) };
  if (kind !== 'file') return void archive.entry(header);
  const file = await open(path, READ);
  try {
    const { promise: added, resolve, reject } = Promise.withResolvers<void>();
    const entry = archive.entry(header, (error) => (error ? reject(error) : resolve()));
    added.catch(() => undefined);
    // It comes by `added`.
    entry.on('error', () => undefined);
    // A stream of no bytes would read one.
    const pieces = bytes === 0 ? [] : file.createReadStream({ end: bytes - 1, autoClose: false });
    for await (const piece of pieces) {
      if (!entry.write(piece)) await Promise.race([once(entry, 'drain'), added]);
    }
    entry.end(undefined);
    await added;
  } finally {
    await file.close();
  }
}

async function assertSame({ path, bytes, mtimeMs, name }: KeptEntry): Promise<void> {
  const now = await lstat(path);
  if (now.size !== bytes || now.mtimeMs !== mtimeMs) throw new Error(`${name} changed while it was packed`);
}
