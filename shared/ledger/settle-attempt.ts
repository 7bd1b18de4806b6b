import type { TaskStatus } from '../tasks/transitions.ts';
import type { AttemptRef } from './attempt-ref.ts';
import { bookOptions } from './book-options.ts';
import { followVerdict, type Following, type Verdict } from './follow-verdict.ts';
import type { Ledger } from './ledger.ts';
import { parseState } from './parse-state.ts';
import { runMoving } from './run-moving.ts';
import { bookKeys, placeKeys, type TaskPlace } from './task-keys.ts';

/** `lost`: the token is not the task's any more; the attempt changed nothing. */
export type SettleAnswer = { kind: 'settled'; status: TaskStatus } | { kind: 'lost' };

/** What the worker knows of the task: its state as the claim stored it, and Redis's time now, ms since the epoch. */
export interface Seen {
  stored: string;
  now: number;
}

interface Settlement {
  attempt: AttemptRef;
  verdict: Verdict;
  seen: Seen;
}

type Reply = { kind: 'settled'; status: TaskStatus } | { kind: 'changed'; stored: string } | { kind: 'lost' };

/** A running task changes by a cancel and by its first input, once each, and by what its own worker takes. */
const TRIES = 5;

/**
 * Ends an attempt and moves its task on, in one script. When somebody changed the running task meanwhile, what follows is
 * decided anew from what it is now. Without `seen` the state is read first.
 */
export async function settleAttempt(ledger: Ledger, attempt: AttemptRef, verdict: Verdict, seen?: Seen): Promise<SettleAnswer> {
  const settle = ledger.batched<Settlement, Reply>('settle', (tenant, settlements) => settleBatch(ledger, tenant, settlements));
  let stored = seen?.stored ?? (await ledger.redis.hget(ledger.keys.tenant(attempt.tenant).task(attempt.id), 'state'));
  if (stored === null) return { kind: 'lost' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const reply = await settle(attempt.tenant, { attempt, verdict, seen: { stored, now: seen?.now ?? Date.now() } });
    if (reply.kind !== 'changed') return reply;
    stored = reply.stored;
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was settled`);
}

async function settleBatch(ledger: Ledger, tenant: string, settlements: Settlement[]): Promise<(Reply | Error)[]> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const decided = settlements.map((settlement) => decide(settlement));
  const replies = (await runMoving(
    ledger,
    tenant,
    'settle-attempts',
    [...bookKeys(ledger, tenant), shard.leases, shard.signals, shard.ended, ...decided.flatMap(({ place }) => placeKeys(ledger, place))],
    [JSON.stringify(bookOptions(ledger, tenant)), ...decided.flatMap(({ args }) => args)],
  )) as [string, string?][];
  return replies.map(([kind, stored], position): Reply | Error => {
    if (kind === 'failed') return new Error(`An attempt could not be settled: ${stored}`);
    if (kind === 'changed') return { kind, stored: `${stored}` };
    return kind === 'settled' ? { kind, status: decided[position]?.status ?? 'completed' } : { kind: 'lost' };
  });
}

interface Decision {
  /** With the lane that the task's state says: it may have got one meanwhile. */
  place: TaskPlace;
  args: (string | number)[];
  /** What the task will have. */
  status: TaskStatus;
}

/** What the script is told of one settlement. */
function decide({ attempt, verdict, seen }: Settlement): Decision {
  const running = parseState(seen.stored);
  // Somebody else's task by now: the script sees it too and answers `lost`.
  const place = { ...attempt, lane: running.lane ?? null };
  if (running.status !== 'running' || running.token !== attempt.token) {
    const args = [attempt.id, place.lane === null ? '' : 1, attempt.token, '', ...Array.from({ length: 10 }, () => '')];
    return { place, args, status: running.status };
  }
  const following = followVerdict(running, verdict, Math.max(seen.now, running.startedAt ?? 0));
  const args = [attempt.id, place.lane === null ? '' : (running.laneLimit ?? 1), attempt.token, seen.stored];
  return { place, args: [...args, ...whatFollows(following, verdict)], status: following.state.status };
}

function whatFollows({ state, goesOn, attempt, events }: Following, verdict: Verdict): (string | number)[] {
  const next = [JSON.stringify(state), state.status, state.class, state.ticket, goesOn, attempt === null ? '' : JSON.stringify(attempt)];
  // By the record's own time: whoever tells of an end knows by it whether it is the one that was told already.
  const tell = (state.tell ?? []).map((kind) => `${kind}/${state.completedAt ?? 0}`);
  return [...next, ...answerOf(verdict), events.join(','), tell.join(',')];
}

/** The final text and the result, JSON as text, of a task that completed. */
function answerOf(verdict: Verdict): [output: string, result: string] {
  if (verdict.kind !== 'completed') return ['', 'null'];
  return [verdict.output, verdict.result === undefined ? 'null' : JSON.stringify(verdict.result)];
}
