import type { FinishReason } from '../../config/index.ts';
import { scriptJson } from '../../redis/index.ts';
import { type FirstState, type TaskState, type TaskStatus, TRANSITIONS, type TaskUsage, timelineNote } from '../../tasks/index.ts';

/**
 * What the head of a state says: the words before its tail, in this order, those that are absent as `-`. `usage` is one word with
 * `finishReason`. Times are milliseconds since the epoch. `scripts/include/states.lua` reads and writes it too,
 * and says what the `=` at its beginning is for, and the `~` of a suspended run.
 */
type StateHead = Pick<
  TaskState,
  | 'status'
  | 'createdAt'
  | 'class'
  | 'ticket'
  | 'token'
  | 'attempt'
  | 'queuedAt'
  | 'startedAt'
  | 'worker'
  | 'completedAt'
  | 'usage'
  | 'finishReason'
>;

const HEAD = /^[=~]([a-z][a-z_]+) (\d+) ([^ ]+) (\d+) (\d+) (\d+) (\d+|-) (\d+|-) ([^ ]+) (\d+|-) ([^ ]+) (.+)$/s;
const ABSENT = '-';

/**
 * What a state says without the body of its task. The tail of a state is JSON of all that its head does not say; a task with an ordinary life has
 * none: it is as it began, which its body says, waited for its own lane at most, and its first attempt runs or completed it.
 */
export type KnownState = StateHead & Partial<TaskState>;

/** Reads what a state says by itself. Throws when it is none. */
export function parseKnownState(text: string): KnownState {
  const { head, tail } = split(text);
  return tail === ABSENT ? head : fromTail(head, tail);
}

/** Reads a state as the ledger keeps it; `first` is what the task began with, as its body has it, or null where the state has a tail. */
export function parseState(text: string, first: FirstState | null): TaskState {
  const { head, tail } = split(text);
  if (tail !== ABSENT) return fromTail(head, tail);
  if (first === null) throw new Error('The state of a task is not known without what the task began with');
  return plainState(head, first);
}

/** The text of a state, with a tail. */
export function stateText(state: TaskState): string {
  const rest: Record<string, unknown> = { ...state };
  for (const name of IN_HEAD) delete rest[name];
  // The word of the usage has it.
  if (state.usage) delete rest['finishReason'];
  return textOf(state, usageWord(state), scriptJson(rest));
}

const IN_HEAD = [
  'status',
  'createdAt',
  'class',
  'ticket',
  'token',
  'attempt',
  'queuedAt',
  'startedAt',
  'worker',
  'completedAt',
  'usage',
] as const satisfies (keyof StateHead)[];

/** How an attempt completed, as far as a head says it. */
interface PlainEnd {
  usage?: TaskUsage | null | undefined;
  finishReason?: FinishReason | undefined;
}

/** The state that follows that of an ordinary task whose first attempt completed, and when: not before its start. Null for any other. */
export function completePlain(running: string, now: number, end: PlainEnd): { next: string; completedAt: number } | null {
  const { head, tail } = split(running);
  // The word of the usage has the reason.
  if (tail !== ABSENT || head.status !== 'running' || (end.finishReason !== undefined && !end.usage)) return null;
  const completedAt = Math.max(now, head.startedAt ?? 0);
  head.status = 'completed';
  head.completedAt = completedAt;
  return { next: textOf(head, usageWord(end), ABSENT), completedAt };
}

function textOf(head: StateHead, usage: string, tail: string): string {
  const { status, createdAt, class: capClass, ticket, token, attempt, queuedAt, startedAt, worker, completedAt } = head;
  const accepted = `${status === 'suspended' ? '~' : '='}${status} ${createdAt} ${capClass} ${ticket} ${token} ${attempt}`;
  const ran = `${timeWord(queuedAt)} ${timeWord(startedAt)} ${worker === undefined ? ABSENT : nameWord(worker)}`;
  return `${accepted} ${ran} ${timeWord(completedAt)} ${usage} ${tail}`;
}

function split(text: string): { head: StateHead; tail: string } {
  const words = (HEAD.exec(text) ?? HEAD.exec(convertRelease01(text))) as Words | null;
  // Another release may have written it.
  if (words === null || !Object.hasOwn(TRANSITIONS, words[1])) throw new Error(`This is no state of a task: ${text.slice(0, 40)}`);
  const [queuedAt, startedAt, worker, completedAt, usage] = [words[7], words[8], words[9], words[10], words[11]];
  const head: StateHead = {
    status: words[1],
    createdAt: Number(words[2]),
    class: words[3],
    ticket: Number(words[4]),
    token: Number(words[5]),
    attempt: Number(words[6]),
  };
  if (queuedAt !== ABSENT) head.queuedAt = Number(queuedAt);
  if (startedAt !== ABSENT) head.startedAt = Number(startedAt);
  if (worker !== ABSENT) head.worker = worker.includes('%') ? decodeURIComponent(worker) : worker;
  if (completedAt !== ABSENT) head.completedAt = Number(completedAt);
  if (usage !== ABSENT) Object.assign(head, readUsage(usage));
  return { head, tail: words[12] };
}

/** All of a state, and its parts. */
type Words = [
  text: string,
  status: TaskStatus,
  createdAt: string,
  capClass: string,
  ticket: string,
  token: string,
  attempt: string,
  queuedAt: string,
  startedAt: string,
  worker: string,
  completedAt: string,
  usage: string,
  tail: string,
];

/**
 * Of a task that was given to a daemon, `isAssigned` is kept beside the status `running` until the daemon accepts it: to the scripts it is what it
 * has been there, an attempt under a lease.
 */
function fromTail(head: StateHead, tail: string): TaskState {
  const { isAssigned, ...rest } = JSON.parse(tail) as TaskState & { isAssigned?: true };
  return { ...rest, ...head, ...(isAssigned && { status: 'scheduled' }) };
}

function plainState(head: StateHead, first: FirstState): TaskState {
  const { token, startedAt, completedAt } = head;
  const began = first.notBefore === undefined ? first : withoutTime(first);
  // A head of 0.1 has no class. No getter, although a worker does not read the timeline: see AttemptContext.
  const state: TaskState = { ...began, ...head, class: first.class, spent: token, log: timelineOf(head) };
  if (startedAt !== undefined) state.scheduledAt = startedAt;
  if (head.status === 'pending') state.gate = 'lane';
  else if (completedAt === undefined) state.granted = true;
  else state.outcome = { kind: 'ran' };
  return state;
}

function withoutTime({ notBefore: _notBefore, ...rest }: FirstState): FirstState {
  return rest;
}

function timelineOf({ createdAt, queuedAt, startedAt, worker = '', completedAt }: StateHead): string {
  if (queuedAt === undefined) return `pending@${createdAt}`;
  const accepted = `pending@${createdAt};queued@${queuedAt}`;
  if (startedAt === undefined) return accepted;
  const ran = `${accepted};scheduled@${startedAt} ${timelineNote(worker)};running@${startedAt}`;
  return completedAt === undefined ? ran : `${ran};completed@${completedAt}`;
}

function timeWord(time: number | undefined): string {
  return time === undefined ? ABSENT : `${time}`;
}

const SPLITS = /[% ]/g;

/** A name as one word. */
function nameWord(text: string): string {
  return text === ABSENT ? '%2D' : text.replace(SPLITS, encodeURIComponent);
}

function readUsage(word: string): Pick<StateHead, 'usage' | 'finishReason'> {
  const { finishReason, ...usage } = JSON.parse(word) as TaskUsage & Pick<StateHead, 'finishReason'>;
  return { usage, ...(finishReason !== undefined && { finishReason }) };
}

/** JSON without spaces; a model's name may have some. */
function usageWord({ usage, finishReason }: PlainEnd): string {
  if (!usage) return ABSENT;
  return scriptJson({ ...usage, ...(finishReason && { finishReason }) }).replaceAll(' ', String.raw`\u0020`);
}

/** A state of release 0.1 in the form of today: that was JSON or, of an ordinary task, a letter and times. */
function convertRelease01(text: string): string {
  if (text.startsWith('{')) return stateText(JSON.parse(text) as TaskState);
  const [letter, created, queued, started, worker = '', completed, usage] = text.split(' ');
  if (letter === 'w') return `=pending ${created} ${queued} 0 0 0 - - - - - -`;
  if (letter === 'q') return `=queued ${created} - 1 0 0 ${queued} - - - - -`;
  const ran = `${created} - 1 1 1 ${queued} ${started} ${nameWord(worker)}`;
  if (letter === 'r') return `=running ${ran} - - -`;
  return letter === 'c' ? `=completed ${ran} ${completed} ${usage} -` : text;
}
