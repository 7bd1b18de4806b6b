import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { MusterError } from '#shared/errors/index.ts';
import { takeFleetLock } from './take-fleet-lock.ts';

export interface DataDirectory {
  /** Absolute. */
  readonly path: string;
  /** Redis's own files. */
  readonly redis: string;
  readonly logs: string;
  /** Lets another fleet have it. */
  release(): void;
}

/**
 * Makes the data directory where it lacks and claims it for this process.
 * Throws `config.invalid` when it cannot be written or another fleet has it.
 */
export function openDataDirectory(given: string): DataDirectory {
  const path = resolve(given);
  const redis = join(path, 'redis');
  const logs = join(path, 'logs');
  try {
    for (const folder of [path, redis, logs]) {
      // Only the owner: it holds every prompt and answer, and the key for the commands of this machine.
      makeFolder(folder);
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      chmodSync(folder, 0o700);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MusterError(
      'config.invalid',
      `The data directory ${path} cannot be written (${reason}). Make it yours, or set MUSTER_DATA_DIR to one that is.`,
      {
        cause,
        details: { directory: path },
      },
    );
  }
  const lock = takeFleetLock(path);
  return { path, redis, logs, release: () => lock.release() };
}

/** Node's own `recursive` never returns where a folder that is there takes no children and says ENOENT, as below /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
