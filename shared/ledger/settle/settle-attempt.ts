import type { TaskQueue } from '../../config/index.ts';
import { type TaskStatus, usageDay } from '../../tasks/index.ts';
import { failuresOf, runByTenant, scriptFailure } from '../batches.ts';
import type { AttemptRef } from '../claim/leases.ts';
import type { FreeSlot, PoolFigures } from '../claim/take-ready.ts';
import { parseBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { contextKeys, laneKeys, runInContexts, shardGroup, shardKeys, type TenantCall, usageBounds } from '../context.ts';
import { dispatchReady } from '../grants/repair-tickets.ts';
import type { Ledger } from '../ledger.ts';
import type { AttemptEnd } from './attempt-end.ts';
import { type Decision, decideSettlement, type SeenTask } from './decide-settlement.ts';

/** `lost`: the token is not the task's any more; the attempt changed nothing. */
export type SettleAnswer = { kind: 'settled'; status: TaskStatus } | { kind: 'lost' };

/** `held`: the lease of an attempt that another process takes back stands. */
type Reply = SettleAnswer | { kind: 'changed'; stored: string } | { kind: 'held' };

/** A running task changes by a cancel and by its first input, once each, and by what its own worker takes. */
const TRIES = 5;

/**
 * Settles an attempt and moves its task on, in one script. When the running task was changed meanwhile, the decision is repeated.
 * Without `known` the state is read first.
 */
export async function settleAttempt(ledger: Ledger, attempt: AttemptRef, verdict: AttemptEnd, known?: SeenTask): Promise<SettleAnswer> {
  const read = known ?? (await readSeen(ledger, attempt));
  if (read === null) return { kind: 'lost' };
  let { stored } = read;
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Outside of the batch: an error in one verdict fails that attempt only.
    const decision = decideSettlement(attempt, verdict, { stored, first: read.first, now: read.now });
    const reply = await commitDecision(ledger, decision);
    if (reply.kind === 'held') return { kind: 'lost' };
    if (reply.kind !== 'changed') return reply;
    if (known && hasMoved(stored, reply.stored, read.first)) return { kind: 'lost' };
    stored = reply.stored;
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was settled`);
}

/** Commits what was decided of an attempt, with others that end at the same time. */
export async function commitDecision(ledger: Ledger, decision: Decision): Promise<Reply> {
  return await ledger.batches.add<Decision, Reply>({ ledger, run: settleAttempts, group: shardGroup(ledger, decision.tenant) }, decision);
}

/** Another hub has adopted the attempt, under the same token. */
function hasMoved(seen: string, stored: string, first: SeenTask['first']): boolean {
  return parseState(seen, first).worker !== parseState(stored, first).worker;
}

async function readSeen({ redis, keys }: Ledger, { tenant, id }: AttemptRef): Promise<SeenTask | null> {
  const own = keys.tenant(tenant);
  const [stored, body] = await Promise.all([redis.hget(own.states, id), redis.hget(own.bodies, id)]);
  return stored === null || body === null ? null : { stored, first: parseBody(body).first, now: Date.now() };
}

/** What the script takes of a decision, in the order of its header. */
const ARGUMENTS = [
  'token',
  'laneLimit',
  'class',
  'seen',
  'next',
  'status',
  'continuation',
  'at',
  'level',
  'subscribers',
  'events',
  'fact',
  'attempt',
  'output',
  'result',
  'shared',
  'hasDeadline',
  'usage',
  'endLookup',
  'agentEnd',
  'expired',
] as const satisfies readonly (keyof Decision)[];

/** Settles attempts of tenants of one shard. `next`: the slots that take ready tickets right behind, of any shard. */
export async function settleAttempts(
  ledger: Ledger,
  decisions: readonly Decision[],
  next: readonly unknown[] = [],
): Promise<(Reply | Error)[]> {
  const shard = ledger.keys.shardOf(decisions[0]?.tenant ?? '');
  const slots = slotsFor(shard, next as readonly FreeSlot[]);
  return await runByTenant(
    decisions,
    ({ tenant }) => tenant,
    async (parts) => {
      const calls = parts.map((own) => settleCall(ledger, own, slots));
      const replies = await runInContexts(ledger, 'settle-attempts', calls);
      // Another process may have had them, or let others stand before them. What is left is in time with the next sweep, too.
      if (replies.some(hasKept)) dispatchReady(ledger, shard, { max: 1 }).catch(() => undefined);
      return parts.map((own, at) => answersOf(own, replies[at]));
    },
  );
}

/** Queues whose ready tickets these slots leave: those of other permits, and those that a hub takes. */
const PARTICULAR = new Set<TaskQueue>(['critical', 'remote']);

function mayRunLowIn({ bands, maxLow }: PoolFigures): boolean {
  return (bands.low?.running ?? 0) < maxLow;
}

/** How many slots of a shard take a ticket of each queue; undefined for none. */
function slotsFor(shard: number, next: readonly FreeSlot[]): Record<string, number> | undefined {
  const queues = next.flatMap((slot) => (slot.shard === shard && slot.pool?.kind !== 'critical' ? slot.queues : []));
  const counts = Map.groupBy(queues, ({ queue }) => queue);
  const pools = new Set(next.flatMap(({ pool }) => pool ?? []));
  const mayRunLow = [...pools].every((pool) => mayRunLowIn(pool.figures()));
  const isLeft = (queue: TaskQueue): boolean => PARTICULAR.has(queue) || (queue === 'background' && !mayRunLow);
  const slots = [...counts].flatMap(([queue, own]) => (isLeft(queue) ? [] : [[queue, own.length] as const]));
  return slots.length > 0 ? { ...Object.fromEntries(slots), all: next.length } : undefined;
}

/** The part of one tenant. */
function settleCall(ledger: Ledger, decisions: readonly Decision[], slots: Record<string, number> | undefined): TenantCall {
  const tenant = decisions[0]?.tenant ?? '';
  const keys = ledger.keys.tenant(tenant);
  const shard = shardKeys(ledger, tenant);
  return {
    tenant,
    options: { ...optionsFor(ledger, decisions), ...(slots ? { slots } : {}) },
    keys: [
      ...contextKeys(ledger, tenant),
      shard.leases,
      shard.signals,
      shard.ended,
      keys.outputs,
      keys.results,
      keys.attempts,
      shard.deadlines,
      shard.due,
      keys.usageDay(usageDay(Math.max(...decisions.map(({ endedAt }) => endedAt)))),
      keys.runningUsage,
      keys.failing,
      ...laneKeys(ledger, tenant, decisions),
    ],
    args: [decisions.map(({ id }) => id).join(','), ...decisions.flatMap((decision) => ARGUMENTS.map((name) => decision[name]))],
  };
}

/** The bounds of what these decisions count. */
function optionsFor(ledger: Ledger, decisions: readonly Decision[]): Record<string, unknown> {
  const hasUsage = decisions.some(({ usage }) => usage !== '');
  const hasFailed = decisions.some(({ status }) => status === 'permanently_failed');
  return {
    ...(hasUsage ? { usage: usageBounds(ledger) } : {}),
    ...(hasFailed ? { maxFailures: ledger.settings.runaways.maxFailures } : {}),
  };
}

function answersOf(decisions: readonly Decision[], replies: unknown[] | Error | undefined): (Reply | Error)[] {
  if (replies === undefined || replies instanceof Error) return failuresOf(decisions, replies, 'an attempt could not be settled');
  const answers: (Reply | Error)[] = decisions.map(({ status }) => ({ kind: 'settled', status }));
  const refusals = replies as (number | string)[];
  for (let at = 0; at < refusals.length; at += 3)
    if (refusals[at + 1] !== KEPT) answers[Number(refusals[at]) - 1] = readRefusal(`${refusals[at + 1]}`, `${refusals[at + 2]}`);
  return answers;
}

const KEPT = 'kept';

/** Whether tickets were left to slots that take ready ones. */
function hasKept(reply: unknown[] | Error): boolean {
  return !(reply instanceof Error) && reply.includes(KEPT);
}

function readRefusal(kind: string, detail: string): Reply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'an attempt could not be settled');
  if (kind === 'changed') return { kind, stored: detail };
  return kind === 'held' ? { kind } : { kind: 'lost' };
}
