import { bodyFrame, bodyText, firstState, haveOneFrame, ownText } from '../codec/body.ts';
import { costOf, levelName, ticketTail } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { countOwnLookups, ownLookups, sharedLookups } from '../read/lookups.ts';
import { type NewTask, sharedLanesText } from './new-task.ts';

/** Tasks that differ by their ids and what is their own. */
export interface TaskKind {
  readonly shared: readonly (string | number)[];
  readonly own: (string | number)[];
  readonly tasks: NewTask[];
  readonly costMs: number | undefined;
  /** Of its tasks in the call. */
  readonly positions: number[];
}

/** Kinds that a task is compared with, the newest first. */
const MAX_COMPARED = 8;

/** The tasks of a call by their kinds. Tasks of one level, and of one lane, keep their order. */
export function kindsOf(ledger: Ledger, tasks: readonly NewTask[]): TaskKind[] {
  const kinds: TaskKind[] = [];
  /** By lane, the kind of its last task: tasks of a lane keep their order. */
  const lastOf = new Map<string, number>();
  for (const [position, task] of tasks.entries()) {
    const lane = task.lane?.name;
    const least = lane === undefined ? 0 : (lastOf.get(lane) ?? 0);
    const at = kindBefore(kinds, least, task) ?? kinds.push(kindOf(task, costOf(ledger, task))) - 1;
    if (lane !== undefined) lastOf.set(lane, at);
    const kind = kinds[at];
    if (kind) addTo(kind, task, position);
  }
  return kinds;
}

/** The kind of a task among those that are there, from one on; null for none. Tasks of one level keep their order too. */
function kindBefore(kinds: readonly TaskKind[], least: number, task: NewTask): number | null {
  for (let at = kinds.length - 1; at >= Math.max(least, kinds.length - MAX_COMPARED); at -= 1) {
    const other = kinds[at]?.tasks[0];
    if (!other) return null;
    if (areOfOneKind(task, other)) return at;
    if (task.queue === other.queue && task.priority === other.priority) return null;
  }
  return null;
}

function addTo(kind: TaskKind, task: NewTask, position: number): void {
  const { body, idempotency, lane } = task;
  const { own, costMs, tasks, positions } = kind;
  tasks.push(task);
  positions.push(position);
  const first = hasOwnFrame(task) ? firstState(task, costMs) : null;
  own.push(body.id, first ? bodyText(task, first) : ownText(task));
  if (idempotency) own.push(`${body.id} ${idempotency.digest}`);
  if (lane) own.push(lane.name);
  if (body.deadline !== null) own.push(body.deadline);
  if (body.sla !== null) own.push(body.sla, first?.ranksFrom ?? 0);
  for (const lookup of ownLookups(body)) own.push(`${lookup}/${body.id}`);
}

/** Whether what a task begins with is its own, so that its whole body is sent. */
function hasOwnFrame({ body, lane }: NewTask): boolean {
  return lane !== null || body.session !== null || body.deadline !== null || body.sla !== null;
}

function areOfOneKind(one: NewTask, other: NewTask): boolean {
  if (hasOwnFrame(one) !== hasOwnFrame(other) || !haveAlike(one, other)) return false;
  return hasOwnFrame(one) ? haveOneTicket(one, other) : haveOneFrame(one, other);
}

/** Whether two tasks have the same things of their own, whatever these are. */
function haveAlike(one: NewTask, other: NewTask): boolean {
  const haveOneLane = (one.lane === null) === (other.lane === null);
  if (!haveOneLane || (one.idempotency === null) !== (other.idempotency === null)) return false;
  if ((one.body.deadline === null) !== (other.body.deadline === null) || (one.body.sla === null) !== (other.body.sla === null))
    return false;
  return haveSameLanes(one.sharedLanes, other.sharedLanes) && countOwnLookups(one.body) === countOwnLookups(other.body);
}

function haveSameLanes(some: NewTask['sharedLanes'], others: NewTask['sharedLanes']): boolean {
  return some.length === others.length && some.every(({ name, limit }, at) => name === others[at]?.name && limit === others[at].limit);
}

/** Whether two tasks have the same classes, and tickets and lookups that are alike. */
function haveOneTicket(one: NewTask, other: NewTask): boolean {
  if (one.class !== other.class || one.queue !== other.queue || one.priority !== other.priority) return false;
  const { agent, source, execution } = one.body;
  return agent === other.body.agent && source === other.body.source && execution.maxAttempts === other.body.execution.maxAttempts;
}

function kindOf(task: NewTask, costMs: number | undefined): TaskKind {
  const { agent, execution } = task.body;
  const { before, between, after } = hasOwnFrame(task) ? NO_FRAME : bodyFrame(task, firstState(task, costMs));
  const shared = [
    task.class,
    task.rateClass,
    levelName(task.queue, task.priority),
    ticketTail({ costMs, maxAttempts: execution.maxAttempts, agent, lane: null }),
    sharedLanesText(task),
    partsOf(task),
    before,
    between,
    after,
    2,
    ...sharedLookups(task.body),
    countOwnLookups(task.body),
  ];
  return { shared, own: [], tasks: [], costMs, positions: [] };
}

const NO_FRAME = { before: '', between: '', after: '' };

/** What a task has of its own, as letters of the script. */
function partsOf({ idempotency, lane, body }: NewTask): string {
  return `${idempotency ? 'k' : ''}${lane ? 'l' : ''}${body.deadline === null ? '' : 'd'}${body.sla === null ? '' : 's'}`;
}
