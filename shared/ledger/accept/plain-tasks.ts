import type { TenantKeys } from '../../redis/index.ts';
import { agentLanes, capsOf, contextKeys, laneOfAgent, shardKeys, type TenantCall } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { type AcceptAnswer, type CallTickets, ticketsOf } from './accept-answer.ts';
import { type NewTask, submissionLimits } from './new-task.ts';
import { kindsOf } from './task-kinds.ts';

/** Places in the reply of `accept-plain-tasks` that count no ready tickets. */
const IS_OUT = -1;
const CAME_BEFORE = -2;
/** Of a task that waits in its lane behind none; behind n it is this less n. */
const BEHIND_NONE = -3;

/**
 * Whether nothing but their own lanes and the rates and caps of their tenant is likely to hold any of these tasks back: no parent, time or count.
 * Not while something held some of these back a moment ago: a call that finds that has to be repeated.
 */
export function arePlain(ledger: Ledger, tasks: readonly NewTask[]): boolean {
  const tenant = tasks[0]?.body.tenant ?? '';
  if (ledger.full.get(tenant) === true) return false;
  const lanes = agentLanes(ledger, tenant);
  return tasks.every((task) => isPlain(task, lanes)) && areDifferent(tasks);
}

/** Whether a tenant has neither rates nor caps. */
export function isUnlimited(ledger: Ledger, tenant: string): boolean {
  return capsOf(ledger, tenant) === null && Object.keys(ledger.limitsOf(tenant)?.rates ?? {}).length === 0;
}

/** Whether a task waits for nothing but its lane, and no task above it can have been stopped. `lanes`: those that its tenant's limits give agents. */
function isPlain({ body, lane, sharedLanes, mode, skip, repeats }: NewTask, lanes: Record<string, number>): boolean {
  if (skip !== null || repeats || body.parentTaskId !== null || body.scheduledFor !== null) return false;
  if (lane !== null && (lane.limit !== 1 || lane.order !== undefined || mode !== null)) return false;
  // A lane that its agent got since the task was made.
  const own = laneOfAgent(body.agent);
  return !(own in lanes) || sharedLanes.some(({ name }) => name === own);
}

/** Whether no two of the tasks have one id, as those of one delivery that comes twice do, or came under one caller's key. */
function areDifferent(tasks: readonly NewTask[]): boolean {
  if (tasks.length < 2) return true;
  const keys = tasks.flatMap(({ idempotency }) => (idempotency ? [idempotency.key] : []));
  return new Set(keys).size === keys.length && new Set(tasks.map(({ body }) => body.id)).size === tasks.length;
}

/** The part of one tenant in a call of `accept-plain-tasks`, and its tasks in the order of the reply. */
export function plainCall(ledger: Ledger, tasks: readonly NewTask[]): { call: TenantCall; order: readonly number[] } {
  const tenant = tasks[0]?.body.tenant ?? '';
  const [keys, shard] = [ledger.keys.tenant(tenant), shardKeys(ledger, tenant)];
  const kinds = kindsOf(ledger, tasks);
  const call = {
    tenant,
    keys: [
      ...contextKeys(ledger, tenant),
      shard.tenantStates,
      keys.rates,
      shard.deadlines,
      shard.slas,
      ...kinds.flatMap(({ tasks: own }) => own.flatMap((task) => ownKeys(keys, task))),
    ],
    options: submissionLimits(ledger, tenant),
    args: [ledger.settings.tasks.idempotencyMs, ...kinds.flatMap(({ shared, own, tasks: { length } }) => shared.concat(length, own))],
  };
  return { call, order: kinds.flatMap(({ positions }) => positions) };
}

/** The keys of what a task has of its own, in the order of the script. */
export function ownKeys(keys: TenantKeys, { idempotency, lane }: NewTask): string[] {
  return [
    ...(idempotency ? [keys.idempotency(idempotency.key)] : []),
    ...(lane ? [keys.laneHeld(lane.name), keys.laneWait(lane.name)] : []),
  ];
}

/**
 * Reads the reply for one tenant; null when something held any of the tasks back, of which none was accepted then. `order`: of the tasks in the
 * call.
 */
export function plainAnswers(tasks: readonly NewTask[], order: readonly number[], reply: unknown[]): (AcceptAnswer | Error)[] | null {
  const [entry, depth, closed, ...places] = reply as [string, number, '' | 'full' | 'disabled' | 'ended', ...number[]];
  if (closed === 'full') return null;
  if (closed !== '') return tasks.map(() => ({ kind: 'closed', state: closed }));
  const call = ticketsOf(tasks[0]?.body.tenant ?? '', entry);
  const answers: (AcceptAnswer | Error)[] = [];
  for (const [at, position] of order.entries()) answers[position] = readPlace(tasks[position]?.body.id ?? '', places[at], { depth, call });
  return answers;
}

function readPlace(id: string, place: number | undefined, { depth, call }: { depth: number; call: CallTickets }): AcceptAnswer | Error {
  if (place === undefined) return new Error(`no answer (task ${id} could not be accepted)`);
  if (place === CAME_BEFORE) return { kind: 'duplicate', id };
  const accepted = {
    kind: 'accepted',
    id,
    status: 'queued',
    gate: null,
    entry: null,
    isAhead: false,
    ahead: 0,
    depth,
    outcome: null,
  } as const;
  if (place === IS_OUT) return { ...accepted, entry: call.entry, isAhead: call.tickets.get(id)?.isAhead ?? false };
  if (place >= 0) return { ...accepted, gate: 'turn', ahead: place };
  return { ...accepted, status: 'pending', gate: 'lane', ahead: BEHIND_NONE - place };
}
