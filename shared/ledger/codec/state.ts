import type { FinishReason } from '../../config/index.ts';
import { type FirstState, type TaskState, TRANSITIONS, type TaskUsage, timelineNote } from '../../tasks/index.ts';

/** Reads a state as the ledger keeps it; `first` is what the task began with, as its body has it. */
export function parseState(text: string, first: FirstState): TaskState {
  return isShort(text) ? expandState(parseShort(text), first) : parseFullState(text);
}

/**
 * Reads a state that is kept in full. Of a task that was given to a daemon, `isAssigned` is kept beside the status `running` until the daemon
 * accepts it: an older release treats it as what it has been there, an attempt under a lease.
 */
export function parseFullState(json: string): TaskState {
  const { isAssigned, ...stored } = JSON.parse(json) as TaskState & { isAssigned?: true };
  const state: TaskState = isAssigned ? { ...stored, status: 'scheduled' } : stored;
  // Another release may have written it.
  if (!Object.hasOwn(TRANSITIONS, state.status) || !Number.isFinite(state.createdAt)) throw new Error('This is no state of a task');
  return state;
}

/**
 * The state of a task with an ordinary life: accepted, granted at once or when its lane was free, claimed, completed by its first
 * attempt. The ledger keeps it as a letter and times; `scripts/include/states.lua` says how, and reads and writes it too. Times are
 * milliseconds since the epoch.
 */
interface ShortState {
  createdAt: number;
  /** When it was granted; absent while it waits for its lane. */
  queuedAt?: number;
  run?: { startedAt: number; worker: string };
  end?: { completedAt: number } & Completion;
}

/** What is kept of the end of an attempt that completed. */
interface Completion {
  usage?: TaskUsage | null | undefined;
  finishReason?: FinishReason | undefined;
}

/** Whether a state, as the ledger keeps it, is short. Else it is JSON. */
export function isShort(text: string): boolean {
  return !text.startsWith('{');
}

/** Whether it is the short state of a task that runs: under its first token. */
export function isShortRun(text: string): boolean {
  return text.startsWith('r ');
}

/** Reads a short state. Throws when it is none; that is a mistake of ours. */
export function parseShort(text: string): ShortState {
  const [letter, created, granted, started, worker = '', completed, usage] = text.split(' ');
  if (letter === 'w') return { createdAt: timeOf(created) };
  const queued = { createdAt: timeOf(created), queuedAt: timeOf(granted) };
  if (letter === 'q') return queued;
  const run = { startedAt: timeOf(started), worker };
  if (letter === 'r') return { ...queued, run };
  if (letter !== 'c' || usage === undefined) throw new Error(`This is no state of a task: ${text.slice(0, 40)}`);
  return { ...queued, run, end: { completedAt: timeOf(completed), ...readCompletion(usage) } };
}

function timeOf(text: string | undefined): number {
  const time = Number(text);
  if (!Number.isFinite(time)) throw new Error(`This is no state of a task, for its time: ${String(text).slice(0, 40)}`);
  return time;
}

/** The short state that follows that of a running task when its attempt completed. */
export function completedShort(running: string, completedAt: number, { usage, finishReason }: Completion): string {
  return `c${running.slice(1)} ${completedAt} ${usage ? wordOf({ ...usage, ...(finishReason && { finishReason }) }) : '-'}`;
}

function readCompletion(word: string): Completion {
  if (word === '-') return { usage: null };
  const { finishReason, ...usage } = JSON.parse(word) as TaskUsage & Completion;
  return { usage, finishReason };
}

/** JSON without spaces, which separate the parts of a short state; a model's name may have some. */
function wordOf(usage: TaskUsage & Completion): string {
  return JSON.stringify(usage).replaceAll(' ', String.raw`\u0020`);
}

/** A short state in full; `first` is what the task began with. */
function expandState(short: ShortState, first: FirstState): TaskState {
  const { createdAt, queuedAt, run, end } = short;
  const began = first.notBefore === undefined ? first : withoutTime(first);
  // No getter, although a worker does not read it: see AttemptContext.
  const log = timelineOf(short);
  if (queuedAt === undefined)
    return { ...began, createdAt, log, status: 'pending', gate: 'lane', ticket: 0, token: 0, spent: 0, attempt: 0 };
  const granted = { queuedAt, ticket: 1 };
  if (!run) return { ...began, createdAt, log, ...granted, status: 'queued', granted: true, token: 0, spent: 0, attempt: 0 };
  const { startedAt, worker } = run;
  const ran = { ...granted, token: 1, spent: 1, attempt: 1, worker, scheduledAt: startedAt, startedAt };
  if (!end) return { ...began, createdAt, log, ...ran, status: 'running', granted: true };
  const { completedAt, usage, finishReason } = end;
  const ended = { completedAt, outcome: { kind: 'ran' } as const, ...(usage && { usage }), ...(finishReason && { finishReason }) };
  return { ...began, createdAt, log, ...ran, status: 'completed', ...ended };
}

function withoutTime({ notBefore: _notBefore, ...rest }: FirstState): FirstState {
  return rest;
}

function timelineOf({ createdAt, queuedAt, run, end }: ShortState): string {
  if (queuedAt === undefined) return `pending@${createdAt}`;
  const accepted = `pending@${createdAt};queued@${queuedAt}`;
  if (!run) return accepted;
  const ran = `${accepted};scheduled@${run.startedAt} ${timelineNote(run.worker)};running@${run.startedAt}`;
  return end ? `${ran};completed@${end.completedAt}` : ran;
}
