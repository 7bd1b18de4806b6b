import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, chown, lchown, lstat, mkdir, mkdtemp, readdir, realpath, rename, rmdir, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { KeptFiles } from '../kept/kept-files.ts';
import type { KeptListing, KeptPlaces } from '../kept/kept-places.ts';
import { unpackKept } from '../kept/unpack-kept.ts';
import type { CommandUser } from '../users/command-user.ts';
import { UserProcess } from '../users/user-process.ts';
import { clearFolder } from './clear-folder.ts';
import { type Listing, OutputFiles } from './output-files.ts';

/** The folders that an attempt alone may write to: working folder with `in` and `out`, HOME and TMPDIR. */
export interface AttemptFolder {
  readonly path: string;
  readonly work: string;
  /** In the working folder: files that the task brings along. */
  readonly in: string;
  /** In the working folder: files that the program leaves become the task's. */
  readonly out: string;
  readonly home: string;
  readonly temporary: string;
  /** Writes a file beside them, which the program may read, in the place of one that is there. Resolves with its path. */
  writeBeside(name: string, text: string): Promise<string>;
  /** Gives them to the user who runs the program, who cannot enter them before. This process writes nothing in them afterwards. */
  handOver(): Promise<void>;
  /** What of it is kept for later attempts, see `KeptFiles`. */
  listKept(places: KeptPlaces): Promise<KeptListing>;
  /** An archive of what was listed last. */
  packKept(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
  /** Puts an archive into it, see `unpackKept`. It is handed over then. */
  unpackKept(archive: AsyncIterable<Uint8Array>, places: KeptPlaces): Promise<number>;
  /** Files in `out`, of which nothing may run that could change them. */
  listOutput(): Promise<OutputListing>;
  /** Removes it with all that is in it. Rejects when the system refuses. */
  remove(): Promise<void>;
}

export interface OutputListing extends Pick<Listing, 'leftOut'> {
  readonly files: readonly OutputFile[];
}

/** A regular file that a program left in `out`. */
export interface OutputFile {
  /** Its path below `out`, with slashes. The program chose it. */
  readonly name: string;
  readonly bytes: number;
  /** Reads it from its beginning, each time it is called. Rejects when it is a link by now. */
  readonly read: () => AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

const PREFIX = 'muster-attempt-';
const ARCHIVE = 'kept.tar.gz';
const [WORK, HOME, TEMPORARY] = ['work', 'home', 'tmp'] as const;
const [INPUT, OUTPUT] = ['in', 'out'] as const;
const PIECE_BYTES = 256 * 1024;

/** Who works in an attempt's folder: this process, or one with the rights of the program's user. */
interface Insider extends Pick<OutputFiles, 'list' | 'read'>, Pick<AttemptFolder, 'listKept' | 'packKept'> {
  /** `archive`: its path in the folder. */
  unpackKept(archive: string, places: KeptPlaces): Promise<number>;
  /** Removes all that the program may have made. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Makes a folder that only `user` may enter, null being the user of this process, in `parent` or the system's temporary folder. With another
 * user its top stays this process's, so that the program can put nothing in the place of a folder. Errors: the system's, and one for a
 * parent in which somebody else could put something in its place.
 */
export async function openAttemptFolder(mark: string, user: CommandUser | null, parent = tmpdir()): Promise<AttemptFolder> {
  // As the kernel names it, because processes are found by the folder they are in.
  const place = await realpath(parent);
  if (isRoot()) await assertSafe(place);
  const path = await mkdtemp(join(place, `${PREFIX}${mark}-`));
  const [work, home, temporary] = [join(path, WORK), join(path, HOME), join(path, TEMPORARY)];
  const [input, output] = [join(work, INPUT), join(work, OUTPUT)];
  const insider = openInsider(path, user);
  const remove = (): Promise<void> => removeFolder(path, insider);
  let isHandedOver = false;
  const handOverOnce = async (): Promise<void> => {
    if (!isHandedOver) await handOver(path, user);
    isHandedOver = true;
  };
  try {
    for (const folder of [work, home, temporary, input, output]) await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  return {
    path,
    work,
    in: input,
    out: output,
    home,
    temporary,
    writeBeside: async (name, text) => {
      const [file, draft] = [join(path, name), join(path, `${name}.new`)];
      await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
      if (isHandedOver && user !== null) await lchown(draft, user.uid, user.gid);
      await rename(draft, file);
      return file;
    },
    handOver: handOverOnce,
    listKept: (places) => insider.listKept(places),
    packKept: () => insider.packKept(),
    unpackKept: async (archive, places) => {
      await pipeline(archive, createWriteStream(join(path, ARCHIVE), { flags: 'wx', mode: 0o600 }));
      try {
        await handOverOnce();
        return await insider.unpackKept(ARCHIVE, places);
      } finally {
        await unlink(join(path, ARCHIVE));
      }
    },
    listOutput: async () => {
      const { files, leftOut } = await insider.list();
      return { files: files.map(({ name, bytes }, index) => ({ name, bytes, read: () => readFrom(insider, index) })), leftOut };
    },
    remove,
  };
}

/** Removes the folders of attempts with such marks. Resolves with whether none of them is left. */
export async function removeAttemptFolders(isWanted: (mark: string) => boolean, parent = tmpdir()): Promise<boolean> {
  const place = await realpath(parent).catch(() => parent);
  const names = (await readdir(place).catch(() => [])).filter((name) => name.startsWith(PREFIX) && isWanted(markOf(name)));
  let isLeft = false;
  for (const name of names) await removeLeftFolder(place, name).catch(() => (isLeft = true));
  return !isLeft;
}

async function removeLeftFolder(place: string, name: string): Promise<void> {
  const path = join(place, name);
  if (!isRoot()) return await removeFolder(path, openInsider(path, null));
  // Whoever knows the mark, as its program does, can make one that is named like that.
  if ((await lstat(path)).uid !== 0) return;
  await assertSafe(path);
  // Who made it named the owner of what is in its top.
  const { uid, gid } = await lstat(join(path, WORK)).catch(() => ({ uid: 0, gid: 0 }));
  await removeFolder(path, openInsider(path, uid === 0 ? null : { uid, gid }));
}

/** What `mkdtemp` adds begins with the last dash. */
function markOf(name: string): string {
  return name.slice(PREFIX.length, name.lastIndexOf('-'));
}

/** Whoever could write above a folder of root's could put a link in its place. */
async function assertSafe(folder: string): Promise<void> {
  const { uid, mode } = await lstat(folder);
  const isWritable = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if (uid !== 0) throw new Error(`commands.folder has to lie where only root can replace it, and ${folder} belongs to user ${uid}`);
  if (isWritable) throw new Error(`commands.folder has to lie where only root can replace it, and others may write to ${folder}`);
  if (dirname(folder) !== folder) await assertSafe(dirname(folder));
}

/** From below: nobody but this process can enter it before the last step. */
async function handOver(path: string, user: CommandUser | null): Promise<void> {
  if (user === null) return;
  for (const name of await readdir(path, { recursive: true })) await lchown(join(path, name), user.uid, user.gid);
  await chown(path, process.getuid?.() ?? 0, user.gid);
  await chmod(path, 0o710);
}

function openInsider(folder: string, user: CommandUser | null): Insider {
  if (user !== null) return new UserProcess(user, { folder, output: `${WORK}/${OUTPUT}`, cleared: [WORK, HOME, TEMPORARY] });
  const files = new OutputFiles(join(folder, WORK, OUTPUT));
  const kept = new KeptFiles();
  return {
    listKept: (places) => kept.list(places),
    packKept: () => kept.pack(),
    unpackKept: (archive, places) => unpackKept(createReadStream(join(folder, archive)), places),
    list: () => files.list(),
    read: (index, offset, maxBytes) => files.read(index, offset, maxBytes),
    clear: () => clearFolder(folder),
    end: () => Promise.resolve(),
  };
}

async function* readFrom(insider: Insider, index: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let offset = 0; ;) {
    const piece = await insider.read(index, offset, PIECE_BYTES);
    if (piece.length === 0) return;
    offset += piece.length;
    yield piece;
  }
}

/** Its top is removed by this process, which is the only one that can make something in it. */
async function removeFolder(path: string, insider: Insider): Promise<void> {
  try {
    const isHandedOver = ((await lstat(path)).mode & 0o010) !== 0;
    await (isHandedOver ? insider : openInsider(path, null)).clear();
  } finally {
    await insider.end();
  }
  for (const name of [WORK, HOME, TEMPORARY]) await rmdir(join(path, name)).catch(ignoreAbsent);
  // What else is there this process has written.
  for (const entry of await readdir(path, { withFileTypes: true })) if (entry.isFile()) await unlink(join(path, entry.name));
  await rmdir(path);
}

function ignoreAbsent(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
