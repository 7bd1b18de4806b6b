import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isStillRunning, processStart } from '../../services/local/process-start.ts';

// One file for each run that has begun and not ended, in a folder of its session. The system says which processes live, so that
// neither clocks nor an order of arrival matter, and a process may end in any manner. A file holds when its process started,
// because the system gives the pids of killed processes out again.

const STARTED_AT = processStart(process.pid) ?? '';

/** Marks a run as begun. Returns the living processes in which another run of its session has not ended. */
export function beginRun(directory: string, { session, task }: { session: string; task: string }): number[] {
  const folder = folderOf(directory, session);
  mkdirSync(folder, { recursive: true });
  const own = markOf(task);
  const isSecond = readdirSync(folder).includes(own);
  // Before the others are read: of two runs that begin together at least the later one sees the other.
  writeWhole(join(folder, own), STARTED_AT);
  const others = readdirSync(folder).filter((name) => name !== own && !name.startsWith('.'));
  const living = others.filter((name) => isStillRunning(readMark(folder, name))).map((name) => Number.parseInt(name, 10));
  return isSecond ? [...living, process.pid] : living;
}

/** Marks a run of this process as ended. */
export function endRun(directory: string, { session, task }: { session: string; task: string }): void {
  rmSync(join(folderOf(directory, session), markOf(task)), { force: true });
}

/** Nobody reads half of it. */
function writeWhole(file: string, text: string): void {
  const draft = join(dirname(file), `.${basename(file)}`);
  writeFileSync(draft, text);
  renameSync(draft, file);
}

function readMark(folder: string, name: string): { pid: number; startedAt: string } {
  return { pid: Number.parseInt(name, 10), startedAt: readIfThere(join(folder, name)) };
}

/** A run that ends at this moment has no mark any more, and no process started at ''. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function folderOf(directory: string, session: string): string {
  return join(directory, 'unfinished', encodeURIComponent(session));
}

function markOf(task: string): string {
  return `${process.pid} ${task}`;
}
