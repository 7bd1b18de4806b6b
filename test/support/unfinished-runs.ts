import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessGone } from './agent-process.ts';

// One file for each run that has begun and not ended, in a folder of its session. The system says which processes live, so that
// neither clocks nor an order of arrival matter, and a process may end in any manner.

/** Marks a run as begun. Returns the living processes in which another run of its session has not ended. */
export function beginRun(directory: string, { session, task }: { session: string; task: string }): number[] {
  const folder = folderOf(directory, session);
  mkdirSync(folder, { recursive: true });
  const own = markOf(task);
  const isSecond = readdirSync(folder).includes(own);
  // Before the others are read: of two runs that begin together at least the later one sees the other.
  writeFileSync(join(folder, own), '');
  const others = readdirSync(folder).filter((name) => name !== own);
  const living = others.map((name) => Number.parseInt(name, 10)).filter((pid) => !isProcessGone(pid));
  return isSecond ? [...living, process.pid] : living;
}

/** Marks a run of this process as ended. */
export function endRun(directory: string, { session, task }: { session: string; task: string }): void {
  rmSync(join(folderOf(directory, session), markOf(task)), { force: true });
}

function folderOf(directory: string, session: string): string {
  return join(directory, 'unfinished', encodeURIComponent(session));
}

function markOf(task: string): string {
  return `${process.pid} ${task}`;
}
