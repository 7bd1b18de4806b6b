import { bodyFrame, firstState, haveOneFrame, ownText } from '../codec/body.ts';
import { capsOf, contextKeys, shardKeys, type TenantCall } from '../context.ts';
import { costOf, levelName, ticketTail } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsOf } from '../read/lookups.ts';
import { type AcceptAnswer, ticketsOf } from './accept-answer.ts';
import { type NewTask, submissionLimits } from './new-task.ts';

/** A place in the reply of `accept-plain-tasks` that counts no tasks. */
const IS_OUT = -1;
const CAME_BEFORE = -2;

/**
 * Whether nothing but the rates and caps of their tenant can hold any of these tasks back: no lanes, no caller's key, parent, time or count. Not
 * while these had no room a moment ago: a call that finds none has to be repeated.
 */
export function arePlain(ledger: Ledger, tasks: readonly NewTask[]): boolean {
  const tenant = tasks[0]?.body.tenant ?? '';
  if (ledger.full.get(tenant) === true || Object.keys(ledger.limitsOf(tenant)?.runningByAgent ?? {}).length > 0) return false;
  return tasks.every((task) => !task.skip && !task.idempotency && !task.repeats && isIndependent(task));
}

/** Whether a tenant has neither rates nor caps. */
export function isUnlimited(ledger: Ledger, tenant: string): boolean {
  return capsOf(ledger, tenant) === null && Object.keys(ledger.limitsOf(tenant)?.rates ?? {}).length === 0;
}

/** Whether a task waits for nothing of its own, and no task above it can have been stopped. */
function isIndependent({ body, lane, sharedLanes }: NewTask): boolean {
  if (body.parentTaskId !== null) return false;
  return !lane && sharedLanes.length === 0 && body.scheduledFor === null && body.deadline === null && body.sla === null;
}

/** The part of one tenant in a call of `accept-plain-tasks`. */
export function plainCall(ledger: Ledger, tasks: readonly NewTask[]): TenantCall {
  const tenant = tasks[0]?.body.tenant ?? '';
  return {
    tenant,
    keys: [...contextKeys(ledger, tenant), shardKeys(ledger, tenant).tenantStates, ledger.keys.tenant(tenant).rates],
    options: submissionLimits(ledger, tenant),
    args: kindsOf(ledger, tasks).flatMap(({ shared, own }) => shared.concat(own.length / 2, own)),
  };
}

/** Tasks in a row that differ by their ids and what is their own. */
interface Kind {
  readonly task: NewTask;
  readonly shared: readonly (string | number)[];
  readonly own: string[];
}

function kindsOf(ledger: Ledger, tasks: readonly NewTask[]): Kind[] {
  const kinds: Kind[] = [];
  let kind: Kind | undefined;
  for (const task of tasks) {
    if (!kind || !areOfOneKind(task, kind.task)) kinds.push((kind = kindOf(task, costOf(ledger, task))));
    kind.own.push(task.body.id, ownText(task));
  }
  return kinds;
}

function areOfOneKind(one: NewTask, other: NewTask): boolean {
  return haveOneFrame(one, other) && one.body.correlationId === other.body.correlationId && one.body.sourceId === other.body.sourceId;
}

function kindOf(task: NewTask, costMs: number | undefined): Kind {
  const { agent, execution } = task.body;
  const lookups = lookupsOf(task.body);
  const ticket = ticketTail({ costMs, maxAttempts: execution.maxAttempts, agent, lane: null });
  const { before, between, after } = bodyFrame(task, firstState(task, costMs));
  const shared = [
    task.class,
    task.rateClass,
    levelName(task.queue, task.priority),
    ticket,
    before,
    between,
    after,
    lookups.length,
    ...lookups,
  ];
  return { task, shared, own: [] };
}

/** Reads the reply for one tenant; null when its rates or caps have no room for all of the tasks, of which none was accepted then. */
export function plainAnswers(tasks: readonly NewTask[], reply: unknown[]): (AcceptAnswer | Error)[] | null {
  const [entry, depth, closed, ...places] = reply as [string, number, '' | 'full' | 'disabled' | 'ended', ...number[]];
  if (closed === 'full') return null;
  if (closed !== '') return tasks.map(() => ({ kind: 'closed', state: closed }));
  const { entry: name, tickets } = ticketsOf(tasks[0]?.body.tenant ?? '', entry);
  return tasks.map(({ body: { id } }, position) => {
    const place = places[position];
    if (place === undefined) return new Error(`no answer (task ${id} could not be accepted)`);
    if (place === CAME_BEFORE) return { kind: 'duplicate', id };
    const isOut = place === IS_OUT;
    return {
      kind: 'accepted',
      id,
      status: 'queued',
      gate: isOut ? null : 'turn',
      entry: isOut ? name : null,
      isAhead: tickets.get(id)?.isAhead ?? false,
      ahead: isOut ? 0 : place,
      depth,
      outcome: null,
    };
  });
}
