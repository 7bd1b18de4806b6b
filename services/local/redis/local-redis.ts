import { join } from 'node:path';
import { startCommand } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { DataDirectory } from '../fleet/data-directory.ts';
import { RedisChild } from './redis-child.ts';
import { findRedisProgram } from './redis-program.ts';
import { rotateFile, type Rotation } from '../log-destinations.ts';

export interface LocalRedisOptions {
  /** `REDIS_URL` when it is set. */
  givenUrl: string | undefined;
  /** The PATH on which redis-server is looked for. */
  path: string;
  directory: Pick<DataDirectory, 'redis' | 'logs'>;
  log: Log;
  rotation: Rotation;
}

export interface LocalRedis {
  /** Resolves with its `REDIS_URL` once it answers. */
  start(): Promise<string>;
  /** Ends it when this fleet started it. Never rejects. */
  stop(graceMs: number): Promise<void>;
  /** Ends it without waiting, in any state. */
  abandon(): void;
}

/** The Redis of `REDIS_URL`, else one of the fleet's own. Throws `unavailable.redis` when none can be run. */
export function createLocalRedis({ givenUrl, path, directory, log, rotation }: LocalRedisOptions): LocalRedis {
  if (givenUrl !== undefined) return { start: async () => givenUrl, stop: async () => undefined, abandon: () => undefined };
  const program = findRedisProgram(path);
  if (!program) {
    throw new MusterError('unavailable.redis', `There is no redis-server on the PATH. ${startCommand()} installs one, or set REDIS_URL.`);
  }
  const logFile = join(directory.logs, 'redis.log');
  const child = new RedisChild({ directory: directory.redis, logFile, program, log });
  return {
    start: async () => {
      rotateFile(logFile, rotation);
      await child.start();
      return child.url;
    },
    stop: (graceMs) => child.stop(graceMs),
    abandon: () => child.abandon(),
  };
}
