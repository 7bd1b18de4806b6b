import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { isStillRunning, processStart } from './process-start.ts';

const ownerSchema = z.object({ pid: z.number().int(), startedAt: z.string() });
type Owner = z.infer<typeof ownerSchema>;

export interface FleetLock {
  release(): void;
}

/**
 * Makes this process the only fleet on a data directory. A lock whose process is gone is taken over.
 * Throws `config.invalid`, naming the other process, while another fleet runs there.
 */
export function takeFleetLock(directory: string): FleetLock {
  const file = join(directory, 'fleet.lock');
  const own: Owner = { pid: process.pid, startedAt: processStart(process.pid) ?? '' };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    // Each round either takes the lock, meets a living owner, or clears one dead owner away.
    while (!isLinked(draft, file)) {
      const owner = readOwner(file);
      if (owner && isStillRunning(owner)) throw inUse(directory, owner.pid);
      clearStale(file, owner);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return { release: () => release(file, own) };
}

/** `link` makes the file with its content in one step, and only if there is none. */
function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Two starts may find the same dead owner: what one of them moves away may already be the other's new lock, and goes back then. */
function clearStale(file: string, dead: Owner | null): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    const moved = readOwner(aside);
    if (moved && moved.pid !== dead?.pid && isStillRunning(moved)) linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(file: string, own: Owner): void {
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
    `A fleet already runs on ${directory} (process ${pid}). Stop it, or give this one a directory of its own: MUSTER_DATA_DIR=.muster-2 PORT=3001 npm start`,
    { details: { directory, pid } },
  );
}
