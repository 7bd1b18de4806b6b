import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { orUnavailable } from './disk-failure.ts';
import type { FilePlace, FileStorage, SpooledFile } from './file-storage.ts';

/** DiskStorage is responsible for files in one folder: a sub-folder per tenant, and in it one per first two characters of the file's id. */
export class DiskStorage implements FileStorage {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** By a file in the folder, which the first process makes. */
  async identify(): Promise<string> {
    return await orUnavailable(async () => {
      const path = join(this.#folder, 'storage-id');
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(path, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
        if (!hasName(error, 'EEXIST')) throw error;
      });
      return await readFile(path, 'utf8');
    });
  }

  async write(place: FilePlace, { path }: SpooledFile): Promise<void> {
    await orUnavailable(async () => {
      const target = this.#pathOf(place);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await syncPath(path);
      await rename(path, target);
      // Without this the name may be lost with the power, although the bytes are on the disk; so may the names of new folders.
      await syncPath(dirname(target));
      await syncPath(this.#folderOf(place.tenant));
      await syncPath(this.#folder);
    });
  }

  async read(place: FilePlace): Promise<Readable | null> {
    return await orUnavailable(async () => {
      const handle = await open(this.#pathOf(place), 'r').catch((error: unknown) => {
        if (hasName(error, 'ENOENT')) return null;
        throw error;
      });
      return handle === null ? null : handle.createReadStream();
    });
  }

  async remove(place: FilePlace): Promise<void> {
    await orUnavailable(() => rm(this.#pathOf(place), { force: true }));
  }

  async removeTenant(tenant: string): Promise<void> {
    await orUnavailable(() => rm(this.#folderOf(tenant), { recursive: true, force: true }));
  }

  #pathOf({ tenant, file }: FilePlace): string {
    return join(this.#folderOf(tenant), assertPlain(file).slice(0, 2), file);
  }

  #folderOf(tenant: string): string {
    return join(this.#folder, 'tenants', assertPlain(tenant));
  }
}

const PLAIN = /^[A-Za-z0-9][\w~-]*$/;

/** Ids are checked where they come in; what would leave the folder all the same is a mistake of ours. */
function assertPlain(id: string): string {
  if (!PLAIN.test(id)) throw new Error(`"${id.slice(0, 50)}" is no name of a file or tenant`);
  return id;
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hasName(error: unknown, name: 'ENOENT' | 'EEXIST'): boolean {
  return error instanceof Error && 'code' in error && error.code === name;
}
