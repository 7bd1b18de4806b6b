import { resolve } from 'node:path';
import type { Config } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { FileStore } from './file-store.ts';
import { DiskStorage } from './storage/disk-storage.ts';
import type { FileStorage } from './storage/file-storage.ts';
import { S3Storage } from './storage/s3-storage.ts';
import { Spool } from './storage/spool.ts';

interface OpenFilesOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: Config;
  /** Whether this process stores or reads files; else it needs no keys of a bucket. Defaults to true. */
  readonly isUsed?: boolean;
}

/** The files of this installation, as the configuration says where they are. Opens nothing. Errors: `config.invalid`. */
export function openFiles({ redis, keys, config, isUsed = true }: OpenFilesOptions): FileStore {
  const folder = resolve(config.env.MUSTER_DATA_DIR, config.settings.files.dir);
  return new FileStore({
    redis,
    keys,
    settings: config.settings.files,
    storage: isUsed ? openStorage(config, folder) : new DiskStorage(folder),
    // In the same folder, so that a file is moved to its place and not copied.
    spool: new Spool(resolve(folder, 'arriving')),
  });
}

/** Where agents reach the API: as configured, or as it is reached on this machine. */
export function publicAddress({ HOST: host, PORT: port, MUSTER_PUBLIC_URL: url }: Config['env']): string {
  if (url !== undefined) return url.replace(/\/$/, '');
  const isWildcard = host === '0.0.0.0' || host === '::';
  const plain = isWildcard ? '127.0.0.1' : host;
  return `http://${plain.includes(':') ? `[${plain}]` : plain}:${port}`;
}

function openStorage({ settings, env }: Config, folder: string): FileStorage {
  const { s3 } = settings.files;
  return s3 === undefined ? new DiskStorage(folder) : openBucket(s3, env, 'files');
}

/** A bucket with the keys of the environment. `section`: that of the configuration which names it. Errors: `config.invalid`. */
export function openBucket(s3: NonNullable<Config['settings']['files']['s3']>, env: Config['env'], section: string): S3Storage {
  const { MUSTER_S3_ACCESS_KEY: accessKey, MUSTER_S3_SECRET_KEY: secretKey } = env;
  if (accessKey === undefined || secretKey === undefined) {
    throw new MusterError('config.invalid', `${section}: set MUSTER_S3_ACCESS_KEY and MUSTER_S3_SECRET_KEY for the bucket`);
  }
  return new S3Storage({ ...s3, accessKey, secretKey });
}
