import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, lchown, lstat, mkdir, mkdtemp, open, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { CommandUser } from './command-user.ts';

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
  /** Gives what was put into `in` to the user who runs the program. */
  handOver(): Promise<void>;
  /** Files in `out`, of which nothing may run that could change them. */
  listOutput(): Promise<OutputFile[]>;
  /** Removes it with all that is in it. Rejects when the system refuses. */
  remove(): Promise<void>;
}

/** A regular file that a program left in `out`. */
export interface OutputFile {
  /** Its path below `out`, with slashes. The program chose it. */
  readonly name: string;
  readonly bytes: number;
  /** Opens it for reading. Rejects when it is a link by now. */
  open(): Promise<FileHandle>;
}

const PREFIX = 'muster-attempt-';
const REMOVE = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 } as const;
/** Files and folders of `out` that are looked at: a program may leave any number. */
const MAX_ENTRIES = 10_000;

/** Makes a folder that only `user` may enter, null being the user of this process, in `parent` or the system's temporary folder. */
export async function openAttemptFolder(mark: string, user: CommandUser | null, parent = tmpdir()): Promise<AttemptFolder> {
  // As the kernel names it, because processes are found by the folder they are in.
  const path = await mkdtemp(join(await realpath(parent), `${PREFIX}${mark}-`));
  const [work, home, temporary] = [join(path, 'work'), join(path, 'home'), join(path, 'tmp')];
  const [input, output] = [join(work, 'in'), join(work, 'out')];
  const remove = (): Promise<void> => removeFolder(path);
  try {
    for (const folder of [work, home, temporary, input, output]) await mkdir(folder, { mode: 0o700 });
    if (user !== null) for (const folder of [path, work, home, temporary, input, output]) await chown(folder, user.uid, user.gid);
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
    handOver: () => changeOwner(input, user),
    listOutput: () => listOutput(output),
    remove,
  };
}

/** Removes the folders of attempts whose mark is an orphan's. Never rejects. */
export async function removeOrphanedFolders(isOrphaned: (mark: string) => boolean, parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const orphaned = names.filter((name) => name.startsWith(PREFIX) && isOrphaned(name.slice(PREFIX.length)));
  for (const name of orphaned) await removeFolder(join(parent, name)).catch(() => undefined);
}

/** Also folders that a program has made unwritable, as package managers do with their caches. */
async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, REMOVE);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    for (const folder of await listFolders(path)) await chmod(folder, 0o700);
    await rm(path, REMOVE);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

async function listFolders(path: string): Promise<string[]> {
  await chmod(path, 0o700);
  const entries = await readdir(path, { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory()).map((entry) => listFolders(join(path, entry.name)));
  return [path, ...(await Promise.all(below)).flat()];
}

async function changeOwner(folder: string, user: CommandUser | null): Promise<void> {
  if (user === null) return;
  for (const name of await readdir(folder, { recursive: true })) await lchown(join(folder, name), user.uid, user.gid);
}

/** Links are left out: they may lead to files that the program's user may not read, but this process may. */
async function listOutput(out: string): Promise<OutputFile[]> {
  const files: OutputFile[] = [];
  const folders = [out];
  for (let seen = 0, folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    // The program may have put a link in place of a folder, `out` too.
    if (!(await isRealFolder(folder))) continue;
    for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if ((seen += 1) > MAX_ENTRIES) return files;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) files.push(...(await describeFile(path, relative(out, path))));
    }
  }
  return files;
}

async function isRealFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** None when it has other names: a link to a file elsewhere looks like that. */
async function describeFile(path: string, name: string): Promise<OutputFile[]> {
  const { size, nlink } = await lstat(path);
  if (nlink !== 1) return [];
  return [{ name, bytes: size, open: () => open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) }];
}
