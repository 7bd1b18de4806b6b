import type { Rate, TenantLimits } from '../config/settings.ts';
import type { TenantKeys } from '../redis/keys.ts';
import type { Gate } from '../tasks/task.ts';
import type { TaskStatus } from '../tasks/transitions.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import type { NewTask } from './new-task.ts';

export interface AcceptedAnswer {
  kind: 'accepted';
  id: string;
  status: TaskStatus;
  gate: Gate | null;
  /** Outbox entry of its ticket; null when it has none yet. */
  entry: string | null;
  /** Tasks before it in its lane or backlog. */
  ahead: number;
  /** Tasks of the tenant that have not ended. */
  depth: number;
}

export type AcceptAnswer =
  | AcceptedAnswer
  | { kind: 'duplicate' | 'conflict'; id: string }
  | { kind: 'rate'; retryAfterMs: number; scope: string }
  | { kind: 'waiting'; waiting: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Accepts a task in one script: from here on it is never lost. When `entry` is set, its ticket is to be added to BullMQ now;
 * the outbox remembers it under that name until then.
 */
export async function acceptNewTask(ledger: Ledger, task: NewTask): Promise<AcceptAnswer> {
  return await ledger.batched<NewTask, AcceptAnswer>('accept', (tenant, tasks) => acceptBatch(ledger, tenant, tasks))(
    task.body.tenant,
    task,
  );
}

async function acceptBatch(ledger: Ledger, tenant: string, tasks: NewTask[]): Promise<(AcceptAnswer | Error)[]> {
  const keys = ledger.keys.tenant(tenant);
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const limits = ledger.limitsOf(tenant);
  const options = JSON.stringify({ ...bookOptions(ledger, tenant), ...admission(limits) });
  const common = [keys.parked, keys.states, keys.index, keys.events, shard.outbox, keys.rates, shard.deadlines];
  const [entry, depth, ...replies] = (await ledger.run(
    'accept-tasks',
    [...common, ...tasks.flatMap((task) => keysOf(keys, task))],
    [options, ledger.settings.tasks.idempotencyMs, ...tasks.flatMap((task) => argumentsOf(task, limits === null))],
  )) as [string, number, ...[string, ...unknown[]][]];
  const owed = { entry: `${tenant}/${entry}`, tickets: new Set(entry.split(',').map((ticket) => ticket.split('.')[0] ?? '')) };
  return replies.map((reply, position) => readAnswer(tasks[position]?.body.id ?? '', reply, depth, owed));
}

function keysOf(keys: TenantKeys, { body, idempotency, lane }: NewTask): string[] {
  return [
    keys.task(body.id),
    ...(idempotency ? [keys.idempotency(idempotency.key)] : []),
    ...(lane ? [keys.laneHeld(lane.name), keys.laneWait(lane.name)] : []),
  ];
}

function argumentsOf(task: NewTask, isUnlimited: boolean): (string | number)[] {
  const { body, lane, idempotency, rateClass } = task;
  const lookups = lookupsOf(body);
  const isPlain = isUnlimited && !lane && body.scheduledFor === null && body.deadline === null;
  return [
    body.id,
    idempotency?.digest ?? '',
    rateClass,
    lane ? 'lane' : '',
    isPlain ? 'plain' : '',
    JSON.stringify(body),
    JSON.stringify(firstState(task)),
    lookups.length,
    ...lookups,
  ];
}

/** What a task is found by, besides its state. The same list takes it out of the index again. */
export function lookupsOf(body: NewTask['body']): string[] {
  const optional = { session: body.session, schedule: body.scheduleId, correlation: body.correlationId, parent: body.parentTaskId };
  const named = Object.entries(optional).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  return [`agent=${body.agent}`, `source=${body.source}`, ...named];
}

function firstState({ body, priority, queue, class: taskClass, lane }: NewTask): Record<string, unknown> {
  return {
    // First, where the script finds it without reading the rest.
    class: taskClass,
    agent: body.agent,
    source: body.source,
    queue,
    priority,
    ...(lane ? { lane: lane.name, laneLimit: lane.limit } : {}),
    ...(lane?.order === undefined ? {} : { order: `${lane.order}` }),
    ...(body.deadline === null ? {} : { deadline: body.deadline }),
    ...(body.scheduledFor === null ? {} : { notBefore: body.scheduledFor }),
    maxAttempts: body.execution.maxAttempts,
    timeoutMs: body.execution.timeoutMs,
    token: 0,
    spent: 0,
    attempt: 0,
  };
}

function admission(limits: TenantLimits | null): Record<string, unknown> {
  if (!limits) return {};
  const rates = Object.entries(limits.rates).map(([name, rate]) => [name, windowsOf(rate)]);
  return { rates: Object.fromEntries(rates) as unknown, ...(limits.waiting === null ? {} : { waiting: limits.waiting }) };
}

function windowsOf({ perMinute, perHour, burst }: Rate): Record<string, { everyMs: number; burst: number }> {
  return { minute: { everyMs: MINUTE_MS / perMinute, burst: burst ?? perMinute }, hour: { everyMs: HOUR_MS / perHour, burst: perHour } };
}

/** The tickets that one call owes: the ids of their tasks, and their common entry in the outbox. */
interface Owed {
  entry: string;
  tickets: ReadonlySet<string>;
}

function readAnswer(id: string, [kind, first, second, third]: [string, ...unknown[]], depth: number, owed: Owed): AcceptAnswer | Error {
  if (kind === 'failed') return new Error(`The task ${id} could not be accepted: ${String(first)}`);
  if (kind === 'duplicate' || kind === 'conflict') return { kind, id: first as string };
  if (kind === 'rate') return { kind, retryAfterMs: first as number, scope: second as string };
  if (kind === 'waiting') return { kind, waiting: first as number };
  return {
    kind: 'accepted',
    id,
    status: first as TaskStatus,
    gate: second === '' ? null : (second as Gate),
    entry: owed.tickets.has(id) ? owed.entry : null,
    ahead: third as number,
    depth,
  };
}
