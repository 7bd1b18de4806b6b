import { appendFileSync, existsSync, readFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, basename, dirname } from 'node:path';
import { isStillRunning, processStart } from '../../../services/local/fleet/process-start.ts';

/**
 * What an agent really did, written outside the fleet: the fleet's own records cannot hide a run that happened twice.
 *
 * - `start`: the agent was called
 * - `abort`: its signal aborted
 * - `end`: it came to its end and its effect is out
 * - `fail`: it threw by itself
 */
export interface JournalEntry {
  event: 'start' | 'abort' | 'end' | 'fail';
  task: string;
  session: string | null;
  input: string;
  attempt: number;
  /** The process that ran it. */
  pid: number;
  /** Wall time of that process, which a scenario may shift; ms since the epoch. */
  at: number;
  /** At a start: the living processes in which another run of the session had not ended. */
  beside?: number[];
}

const FILE = 'journal.ndjson';

/** One write to a file opened for appending, so that lines of many processes do not mix and survive a kill. */
export function appendToJournal(directory: string, entry: JournalEntry): void {
  const { event, session, task } = entry;
  if (session !== null && event !== 'start') endRun(directory, { session, task });
  const seen = session !== null && event === 'start' ? { beside: beginRun(directory, { session, task }) } : {};
  appendFileSync(join(directory, FILE), `${JSON.stringify({ ...entry, ...seen })}\n`);
}

/** Everything in the order in which it was written. */
export function readJournal(directory: string): JournalEntry[] {
  const file = join(directory, FILE);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry);
}

/**
 * The runs that began while another run of their session had not ended in a process that lived. A run in a process that was `blocked`
 * stands still, and counts only when it went on afterwards instead of aborting.
 */
export function findOverlaps(journal: readonly JournalEntry[], blocked: ReadonlySet<number> = new Set()): string[] {
  return journal.flatMap(({ input, session, pid, beside = [] }, at) => {
    const running = beside.filter((other) => !blocked.has(other) || wentOn(journal.slice(at + 1), session, other));
    return running.length === 0 ? [] : [`${input} of ${session} began in process ${pid} beside a run in ${running.join(', ')}`];
  });
}

/** Whether the next word of the session from this process is that its run came to an end of its own. */
function wentOn(later: readonly JournalEntry[], session: string | null, pid: number): boolean {
  const next = later.find((entry) => entry.pid === pid && entry.session === session && entry.event !== 'start');
  return next !== undefined && next.event !== 'abort';
}

// One file for each run that has begun and not ended, in a folder of its session. The system says which processes live, so that
// neither clocks nor an order of arrival matter, and a process may end in any manner. A file holds when its process started,
// because the system gives the pids of killed processes out again.

const STARTED_AT = processStart(process.pid) ?? '';

/** Marks a run as begun. Returns the living processes in which another run of its session has not ended. */
function beginRun(directory: string, { session, task }: { session: string; task: string }): number[] {
  const folder = folderOf(directory, session);
  mkdirSync(folder, { recursive: true });
  const own = markOf(task);
  const isSecond = readdirSync(folder).includes(own);
  // Before the others are read: of two runs that begin together at least the later one sees the other.
  writeAtomically(join(folder, own), STARTED_AT);
  const others = readdirSync(folder).filter((name) => name !== own && !name.startsWith('.'));
  const living = others.filter((name) => isStillRunning(readMark(folder, name))).map((name) => Number.parseInt(name, 10));
  return isSecond ? [...living, process.pid] : living;
}

/** Marks a run of this process as ended. */
function endRun(directory: string, { session, task }: { session: string; task: string }): void {
  rmSync(join(folderOf(directory, session), markOf(task)), { force: true });
}

/** Nobody reads half of it. */
function writeAtomically(file: string, text: string): void {
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
