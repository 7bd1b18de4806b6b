import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Config } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import { readAll } from './file-store.ts';
import { openBucket } from './open-files.ts';
import { DiskStorage } from './storage/disk-storage.ts';
import type { FilePlace, FileStorage } from './storage/file-storage.ts';
import { Spool } from './storage/spool.ts';

interface ObjectArchivePorts {
  readonly storage: FileStorage;
  readonly spool: Spool;
}

const RETRY_MS = 5000;

/** ObjectArchive is responsible for the bytes of objects, each written once under a name of its own. Who may need one is not known here. */
export class ObjectArchive {
  readonly #ports: ObjectArchivePorts;

  constructor(ports: ObjectArchivePorts) {
    this.#ports = ports;
  }

  /** Names where the objects are: the same for all processes that use it. Errors: `unavailable.files`. */
  async identify(): Promise<string> {
    return await this.#ports.storage.identify();
  }

  /** Stores an object; durable once this resolves. Errors: `unavailable.files`. */
  async write(place: FilePlace, bytes: Buffer): Promise<void> {
    const { storage, spool } = this.#ports;
    await spool.with(Readable.from([bytes]), bytes.length, (spooled) => storage.write(place, spooled));
  }

  /** The bytes of an object that has so many; null when it is gone. Errors: `unavailable.files`. */
  async read(place: FilePlace, bytes: number): Promise<Buffer | null> {
    const source = await this.#ports.storage.read(place);
    if (source === null) return null;
    return await readAll(source, bytes).catch((cause: unknown) => {
      throw new MusterError('unavailable.files', 'An object of the archive could not be read to its end', {
        retryAfterMs: RETRY_MS,
        cause,
      });
    });
  }

  /** Removes an object; one that is gone already is no error. Errors: `unavailable.files`. */
  async remove(place: FilePlace): Promise<void> {
    await this.#ports.storage.remove(place);
  }

  /** Removes all objects of a tenant. Errors: `unavailable.files`. */
  async removeTenant(tenant: string): Promise<void> {
    await this.#ports.storage.removeTenant(tenant);
  }
}

/** Within the bucket of files. No tenant's name has a dot in it, so that no tenant's files have this name too. */
const FOLDER = 'archive.tasks/';

/** The archive as the configuration says where it is; undefined without one. Opens nothing. Errors: `config.invalid`. */
export function openArchive(config: Config): ObjectArchive | undefined {
  const { archive, files } = config.settings;
  if (archive === undefined) return undefined;
  const folder = resolve(config.env.MUSTER_DATA_DIR, archive.dir);
  // In the same folder, so that an object is moved to its place and not copied.
  const spool = new Spool(resolve(folder, 'arriving'));
  if (archive.storage === 'directory') return new ObjectArchive({ storage: new DiskStorage(folder), spool });
  const s3 = archive.s3 ?? (files.s3 && { ...files.s3, prefix: `${files.s3.prefix}${FOLDER}` });
  if (s3 === undefined) throw new MusterError('config.invalid', 'archive.storage is "s3": set archive.s3, or files.s3');
  return new ObjectArchive({ storage: openBucket(s3, config.env, 'archive'), spool });
}
