import { lstat, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFromHere, isMakerGone } from '../processes/attempt-mark.ts';

/** Longer than any attempt may take. */
const LONGEST_MS = 48 * 3_600_000;

/** What an attempt holds, as a file says it. */
export interface Hold {
  /** What is held. */
  readonly key: string;
  /** Of the attempt. */
  readonly mark: string;
}

/**
 * HoldFiles is responsible for what attempts on one machine hold, in whichever process: a file each, named by what it is and by the mark of the
 * attempt, in a folder of one user. Nothing has to be given back by a process that was killed: its mark shows that it has ended. Of two who take
 * the same at once at least one sees the other's file.
 */
export class HoldFiles {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** In the first of these folders that can be had. Throws when none can, with the reasons. */
  static async open(folders: readonly string[]): Promise<HoldFiles> {
    const problems: string[] = [];
    for (const folder of folders) {
      const holds = new HoldFiles(folder);
      try {
        await holds.#makeFolder();
        return holds;
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
    throw new Error(`what attempts hold cannot be kept: ${problems.join('; ')}`);
  }

  /** Errors: the system's, and one where the folder is somebody else's or open to others. */
  async #makeFolder(): Promise<void> {
    await mkdir(this.folder, { mode: 0o700 }).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    const found = await lstat(this.folder);
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0) return;
    throw new Error(`${this.folder} has to be a folder that only user ${process.getuid?.() ?? ''} may enter`);
  }

  async add(hold: Hold, note = ''): Promise<void> {
    await writeFile(this.#pathOf(hold), note, { flag: 'wx', mode: 0o600 });
  }

  async read(hold: Hold): Promise<string> {
    return await readFile(this.#pathOf(hold), 'utf8');
  }

  async remove(hold: Hold): Promise<void> {
    await unlink(this.#pathOf(hold)).catch(() => undefined);
  }

  /** All of them, and which are of processes that have ended. */
  async list(): Promise<(Hold & { readonly isLeft: boolean })[]> {
    const holds = (await readdir(this.folder)).flatMap((name) => {
      const at = name.lastIndexOf('.');
      return at < 1 ? [] : [{ key: decodeURIComponent(name.slice(0, at)), mark: name.slice(at + 1) }];
    });
    return await Promise.all(holds.map(async ({ key, mark }) => ({ key, mark, isLeft: await this.#isLeft({ key, mark }) })));
  }

  /** Whether a process of another container has ended cannot be seen: a container that was restarted is another one. */
  async #isLeft(hold: Hold): Promise<boolean> {
    if (isFromHere(hold.mark)) return isMakerGone(hold.mark);
    const madeAt = await lstat(this.#pathOf(hold)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return Date.now() - madeAt > LONGEST_MS;
  }

  #pathOf({ key, mark }: Hold): string {
    return join(this.folder, `${encodeURIComponent(key)}.${mark}`);
  }
}
