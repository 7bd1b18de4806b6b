import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type BackupRecord, recordSchema } from './backup-record.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Text of one part of the file, about, and at most what a part may become: a task may be larger than that. */
const PART_CHARACTERS = 1_000_000;
const MAX_PART_BYTES = 1_000_000_000;
/** A frame of zstd that programs skip: it stands before each part and says how long that is. */
const SKIPPED = 0x184d2a50;
const HEAD_BYTES = 8;
/** What a part may become, unpacked: the largest task beside a part that is nearly full. */
const MAX_UNPACKED_BYTES = 500_000_000;
/** Secrets may be in a backup: nobody but its owner reads it. */
const OWNER_ONLY = 0o600;
const partSchema = z.strictObject({ bytes: z.int().min(1).max(MAX_PART_BYTES), sha256: z.string().length(64) });
const MAX_NOTE_BYTES = 1000;

/** What a file that is being written is called until it is whole. */
export function partialName(file: string): string {
  return `${file}.partial`;
}

interface ReadPart {
  readonly records: BackupRecord[];
  /** Where the next part begins. */
  readonly end: number;
  readonly sha256: string;
}

function damaged(why: string, cause?: unknown): MusterError {
  return new MusterError('backup.damaged', `The backup is damaged: ${why}`, cause === undefined ? {} : { cause });
}

/**
 * The parts of a backup, each checked by its digest. The file is NDJSON in zstd: `zstd -dc` shows it. Errors: `backup.damaged`. `isPartial`: what is
 * left of a part at its end, whose process died, ends it.
 */
export async function* readParts(file: string, { isPartial = false } = {}): AsyncGenerator<ReadPart> {
  const handle = await openBackup(file);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw damaged(`${file} is no file`);
    const { size } = found;
    for (let at = 0; at < size;) {
      const part = await readPart(handle, at, size);
      if (part === null && isPartial) return;
      if (part === null && at === 0) throw damaged('it does not begin as one does, so it may be another file');
      if (part === null) throw damaged(`a part at byte ${at} is cut off or changed`);
      yield part;
      at = part.end;
    }
  } finally {
    await handle.close();
  }
}

async function openBackup(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw damaged(`${file} ${code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`}`, error);
  }
}

async function readPart(handle: FileHandle, at: number, size: number): Promise<ReadPart | null> {
  const head = await readBytes(handle, at, HEAD_BYTES);
  if (head === null || head.readUInt32LE(0) !== SKIPPED || head.readUInt32LE(4) > MAX_NOTE_BYTES) return null;
  const noteBytes = head.readUInt32LE(4);
  const note = await readBytes(handle, at + HEAD_BYTES, noteBytes);
  const said = partSchema.safeParse(parseJson(note?.toString() ?? ''));
  const start = at + HEAD_BYTES + noteBytes;
  if (!said.success || start + said.data.bytes > size) return null;
  const packed = await readBytes(handle, start, said.data.bytes);
  if (packed === null || digestOf(packed) !== said.data.sha256) return null;
  return { records: await recordsIn(packed, at), end: start + said.data.bytes, sha256: said.data.sha256 };
}

/** Digests only show that a part is as it was written: somebody may have written anything. Errors: `backup.damaged`. */
async function recordsIn(packed: Buffer, at: number): Promise<BackupRecord[]> {
  try {
    const text = (await decompress(packed, { maxOutputLength: MAX_UNPACKED_BYTES })).toString();
    return text.split('\n').flatMap((line) => (line === '' ? [] : [recordSchema.parse(JSON.parse(line))]));
  } catch (error) {
    throw damaged(`the part at byte ${at} has records that are not ones of a backup`, error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function readBytes(handle: FileHandle, at: number, length: number): Promise<Buffer | null> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return bytesRead === length ? buffer : null;
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reads all of a backup once, and answers its first and last record. Errors: `backup.damaged`, also for a file without its end. */
export async function verifyBackup(file: string): Promise<{ first: BackupRecord; last: BackupRecord & { t: 'end' } }> {
  const chain = createHash('sha256');
  let first: BackupRecord | undefined;
  let last: BackupRecord | undefined;
  let before = '';
  for await (const { records, sha256 } of readParts(file)) {
    first ??= records[0];
    last = records.at(-1);
    if (last?.t === 'end') before = chain.copy().digest('hex');
    chain.update(sha256);
  }
  if (first?.t !== 'manifest') throw damaged('it does not begin as one');
  if (last?.t !== 'end') throw damaged('it has no end: its `muster backup` did not come to it');
  if (last.digest !== before) throw damaged('parts of it are missing or come from another one');
  return { first, last };
}

/** BackupWriter is responsible for a backup that grows on disk, part by part, so that a process that dies loses the last part only. */
export class BackupWriter {
  readonly #handle: FileHandle;
  readonly #file: string;
  readonly #chain = createHash('sha256');
  #lines: string[] = [];
  #characters = 0;

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  /** Opens a file to go on behind these parts, or a new one. */
  static async open(file: string, kept: readonly { end: number; sha256: string }[]): Promise<BackupWriter> {
    const name = partialName(file);
    const handle = await open(name, existsSync(name) ? 'r+' : 'w+', OWNER_ONLY);
    const writer = new BackupWriter(file, handle);
    await handle.truncate(kept.at(-1)?.end ?? 0);
    for (const { sha256 } of kept) writer.#chain.update(sha256);
    return writer;
  }

  async add(record: BackupRecord): Promise<void> {
    const line = JSON.stringify(record);
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= PART_CHARACTERS) await this.flush();
  }

  /** Ends the part: from here on it is kept. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const packed = await compress(Buffer.from(`${this.#lines.join('\n')}\n`));
    this.#lines = [];
    this.#characters = 0;
    const sha256 = digestOf(packed);
    const note = Buffer.from(JSON.stringify({ bytes: packed.length, sha256 }));
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32LE(SKIPPED, 0);
    head.writeUInt32LE(note.length, 4);
    const { size } = await this.#handle.stat();
    await this.#handle.write(Buffer.concat([head, note, packed]), 0, undefined, size);
    await this.#handle.datasync();
    this.#chain.update(sha256);
  }

  /** Writes the end, and gives the file its name. */
  async finish(counts: Readonly<Record<string, number>>): Promise<void> {
    await this.flush();
    await this.add({ t: 'end', digest: this.#chain.copy().digest('hex'), counts });
    await this.flush();
    await this.#handle.sync();
    await this.#handle.close();
    await rename(partialName(this.#file), this.#file);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
