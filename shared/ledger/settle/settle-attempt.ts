import type { TaskQueue } from '../../config/index.ts';
import { redisNow } from '../../redis/index.ts';
import { usageDay } from '../../tasks/index.ts';
import { failuresOf, runByTenant, scriptFailure } from '../batches.ts';
import type { AttemptRef } from '../claim/leases.ts';
import type { SlotClaim } from '../claim/claim-for-slots.ts';
import { parseBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { contextKeys, laneKeys, runInContexts, shardGroup, shardKeys, type TenantCall, usageBounds } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import type { AttemptEnd } from './attempt-end.ts';
import { decideTransition, type SeenTask } from './decide-transition.ts';
import { type Transition, transitionArguments } from './transition.ts';

/** A running task changes by a cancel and by its first input, once each, and by what its own worker takes. */
const TRIES = 5;

/**
 * Settles an attempt and moves its task on, in one script. When the running task was changed meanwhile, the decision is repeated.
 * Without `known` the state is read first. Returns what the ledger did, or `lost` when the attempt is not the task's any more: it has changed
 * nothing then.
 */
export async function settleAttempt(ledger: Ledger, attempt: AttemptRef, end: AttemptEnd, known?: SeenTask): Promise<Transition | 'lost'> {
  const seen = known ?? (await readSeen(ledger, attempt));
  if (seen === null) return 'lost';
  let { stored } = seen;
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Outside of the batch: an error in one decision fails that attempt only.
    const transition = decideTransition(attempt, end, { stored, first: seen.first, now: seen.now });
    if (transition === null) return 'lost';
    const answer = await commitTransition(ledger, transition);
    if (typeof answer === 'string') return answer === 'settled' ? transition : 'lost';
    if (known && hasMoved(stored, answer.changed, known.first)) return 'lost';
    stored = answer.changed;
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was settled`);
}

/** Another hub has adopted the attempt, under the same token. */
function hasMoved(seen: string, stored: string, first: SeenTask['first']): boolean {
  return parseState(seen, first).worker !== parseState(stored, first).worker;
}

/** Reads what has to be known of the task of an attempt; null when there is none. */
export async function readSeen({ redis, keys }: Ledger, { tenant, id }: AttemptRef): Promise<SeenTask | null> {
  const own = keys.tenant(tenant);
  const [stored, body, now] = await Promise.all([redis.hget(own.states, id), redis.hget(own.bodies, id), redisNow(redis)]);
  return stored === null || body === null ? null : { stored, first: parseBody(body).first, now };
}

/** `held`: the lease of an attempt that another process takes back stands. `changed`: the task runs, and is not as it was seen. */
type Answer = 'settled' | 'lost' | 'held' | { changed: string };

/** Commits what was decided of an attempt, with others that end at the same time. */
export async function commitTransition(ledger: Ledger, transition: Transition): Promise<Answer> {
  return await ledger.batches.add<Transition, Answer>(
    { ledger, run: settleAttempts, group: shardGroup(ledger, transition.tenant) },
    transition,
  );
}

/** Settles attempts of tenants of one shard. `next`: the claims right behind, of any shard. */
export async function settleAttempts(
  ledger: Ledger,
  transitions: readonly Transition[],
  next: readonly unknown[] = [],
): Promise<(Answer | Error)[]> {
  const shard = ledger.keys.shardOf(transitions[0]?.tenant ?? '');
  const slots = slotsFor(shard, next as readonly SlotClaim[]);
  return await runByTenant(
    transitions,
    ({ tenant }) => tenant,
    async (parts) => {
      const calls = parts.map((own) => settleCall(ledger, own, slots));
      const replies = await runInContexts(ledger, 'settle-attempts', calls);
      return parts.map((own, at) => answersOf(own, replies[at]));
    },
  );
}

/** Queues whose tickets get jobs all the same: critical ones need not wait for these slots, and low ones may not start in them. */
const PARTICULAR: ReadonlySet<TaskQueue> = new Set<TaskQueue>(['critical', 'remote', 'background']);

/** How many slots of a shard claim right behind, by queue and in all: so many tickets need no job of BullMQ. */
function slotsFor(shard: number, next: readonly SlotClaim[]): Record<string, number> | undefined {
  const claims = next.filter((claim) => claim.shard === shard && claim.count > 0);
  const slots: Record<string, number> = {};
  for (const { queues, count } of claims) {
    for (const { queue } of queues) if (!PARTICULAR.has(queue)) slots[queue] = (slots[queue] ?? 0) + count;
  }
  return claims.length > 0 ? { ...slots, all: claims.reduce((sum, { count }) => sum + count, 0) } : undefined;
}

/** The part of one tenant. */
function settleCall(ledger: Ledger, transitions: readonly Transition[], slots: Record<string, number> | undefined): TenantCall {
  const tenant = transitions[0]?.tenant ?? '';
  const keys = ledger.keys.tenant(tenant);
  const shard = shardKeys(ledger, tenant);
  return {
    tenant,
    options: { ...optionsFor(ledger, transitions), ...(slots ? { slots } : {}) },
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
      keys.usageDay(usageDay(Math.max(...transitions.map(({ endedAt }) => endedAt)))),
      keys.runningUsage,
      keys.failing,
      shard.waits,
      ...transitions.flatMap((each) => [...laneKeys(ledger, tenant, [each]), ...(each.entry ? [keys.journal(each.id)] : [])]),
    ],
    args: transitions.flatMap((each) => transitionArguments(ledger.seal, each)),
  };
}

/** The bounds of what these transitions count. */
function optionsFor(ledger: Ledger, transitions: readonly Transition[]): Record<string, unknown> {
  const hasUsage = transitions.some(({ usage }) => usage !== undefined);
  const hasFailed = transitions.some(({ status }) => status === 'permanently_failed');
  return {
    ...(hasUsage ? { usage: usageBounds(ledger) } : {}),
    ...(hasFailed ? { maxFailures: ledger.settings.runaways.maxFailures } : {}),
  };
}

function answersOf(transitions: readonly Transition[], replies: unknown[] | Error | undefined): (Answer | Error)[] {
  if (replies === undefined || replies instanceof Error) return failuresOf(transitions, replies, 'an attempt could not be settled');
  const answers: (Answer | Error)[] = transitions.map(() => 'settled');
  const refusals = replies as (number | string)[];
  for (let at = 0; at < refusals.length; at += 3)
    answers[Number(refusals[at]) - 1] = readRefusal(`${refusals[at + 1]}`, `${refusals[at + 2]}`);
  return answers;
}

function readRefusal(kind: string, detail: string): Answer | Error {
  if (kind === 'failed') return scriptFailure(detail, 'an attempt could not be settled');
  if (kind === 'changed') return { changed: detail };
  return kind === 'held' ? 'held' : 'lost';
}
