import { accessSync, chmodSync, constants, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { startCommand } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { isStillRunning, processStart } from './process-start.ts';

export interface DataFolders {
  /** Absolute. */
  readonly path: string;
  /** Redis's own files. */
  readonly redis: string;
  readonly logs: string;
}

export interface DataDirectory extends DataFolders {
  /** Another fleet may open the directory afterwards. */
  release(): void;
}

/** The folders of a data directory, for a process whose parent has opened it. */
export function dataFolders(given: string): DataFolders {
  const path = resolve(given);
  return { path, redis: join(path, 'redis'), logs: join(path, 'logs') };
}

/**
 * Creates the data directory where it is missing, and locks it for this process.
 * Throws `config.invalid` when it cannot be written or another fleet has it.
 */
export function openDataDirectory(given: string): DataDirectory {
  const { path, redis, logs } = dataFolders(given);
  try {
    for (const folder of [path, redis, logs]) {
      // For its owner only: it holds all prompts and answers, and the key for the commands of this machine.
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
  const lock = acquireFleetLock(path);
  return { path, redis, logs, release: () => lock.release() };
}

/** `recursive` of Node never returns below /proc, where creating a folder in an existing one fails with ENOENT. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

const ownerSchema = z.object({ pid: z.number().int(), startedAt: z.string() });
type Owner = z.infer<typeof ownerSchema>;

interface FleetLock {
  release(): void;
}

/**
 * Makes this process the only fleet on a data directory. The lock of a process that is gone is replaced.
 * Throws `config.invalid` with the other process while another fleet runs there.
 */
export function acquireFleetLock(directory: string): FleetLock {
  const file = join(directory, 'fleet.lock');
  const own: Owner = { pid: process.pid, startedAt: processStart(process.pid) ?? '' };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    // Each round acquires the lock, finds a running owner, or removes the lock of a dead one.
    while (!isLinked(draft, file)) {
      const owner = readOwner(file);
      if (owner && isStillRunning(owner)) throw inUse(directory, owner.pid);
      clearStale(file, owner);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return { release: () => releaseLock(file, own) };
}

/** `link` creates the file with its content in one step, and only when it does not exist. */
function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Two starts may find the same dead owner. A lock that the other one has just created is put back. */
function clearStale(file: string, dead: Owner | null): void {
  const moved = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, moved);
    const owner = readOwner(moved);
    if (owner && owner.pid !== dead?.pid && isStillRunning(owner)) linkSync(moved, file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(moved, { force: true });
  }
}

function releaseLock(file: string, own: Owner): void {
  if (readOwner(file)?.pid === own.pid) rmSync(file, { force: true });
}

function readOwner(file: string): Owner | null {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function inUse(directory: string, pid: number): MusterError {
  return new MusterError(
    'config.invalid',
    `A fleet already runs on ${directory} (process ${pid}). Stop it, or give this one a directory of its own: MUSTER_DATA_DIR=.muster-2 PORT=3001 ${startCommand()}`,
    { details: { directory, pid } },
  );
}
