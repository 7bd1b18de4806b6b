import { chown, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOrphaned } from './attempt-mark.ts';
import type { CommandUser } from './command-user.ts';

/** What an attempt may write to, for itself alone: as working folder, as HOME and as TMPDIR. */
export interface AttemptFolder {
  readonly path: string;
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  /** Removes it with all that is in it. Rejects when the system refuses. */
  remove(): Promise<void>;
}

const PREFIX = 'muster-attempt-';
const REMOVE = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 } as const;

/** Makes a folder that only `user` may enter, null being the user of this process, in `parent` or the system's temporary folder. */
export async function openAttemptFolder(mark: string, user: CommandUser | null, parent = tmpdir()): Promise<AttemptFolder> {
  // As the kernel names it, because processes are found by the folder they are in.
  const path = await mkdtemp(join(await realpath(parent), `${PREFIX}${mark}-`));
  const [work, home, temporary] = [join(path, 'work'), join(path, 'home'), join(path, 'tmp')];
  const remove = (): Promise<void> => rm(path, REMOVE);
  try {
    for (const folder of [work, home, temporary]) await mkdir(folder, { mode: 0o700 });
    if (user !== null) for (const folder of [path, work, home, temporary]) await chown(folder, user.uid, user.gid);
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  return { path, work, home, temporary, remove };
}

/** Removes the folders of processes of this system that ended without doing so. */
export async function removeOrphanedFolders(parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const orphaned = names.filter((name) => name.startsWith(PREFIX) && isOrphaned(name.slice(PREFIX.length)));
  for (const name of orphaned) await rm(join(parent, name), REMOVE).catch(() => undefined);
}
