import { redisNow } from '../../redis/index.ts';
import { hasAttempt, type TaskState, type TaskStatus } from '../../tasks/index.ts';
import { type AttemptRef, leaseMember } from '../claim/leases.ts';
import type { RunningUsage } from '../claim/report-usage.ts';
import { parseBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import type { LostAttempt } from './attempt-end.ts';
import { decideSettlement, type SeenTask } from './decide-settlement.ts';
import { commitDecision } from './settle-attempt.ts';

/** `settled`: with the task as it was while the attempt ran, and its status since. `held`: the lease stands. `gone`: it is not this attempt's any more. */
export type ExpiredAnswer =
  | { kind: 'settled'; running: TaskState; end: LostAttempt; status: TaskStatus }
  | { kind: 'held' }
  | { kind: 'gone' };

interface Expiry {
  /** Decides what follows. */
  decide: (running: TaskState) => LostAttempt;
  /** Whether the process is known to have ended, so that its lease does not count any more. */
  isGone: boolean;
}

/** A lost attempt changes by a cancel, and by what its process reports while it still can. */
const TRIES = 5;

/** Settles an attempt from which nothing is heard any more, as `settleAttempt` does for the worker that has it. */
export async function settleExpired(ledger: Ledger, attempt: AttemptRef, { decide, isGone }: Expiry): Promise<ExpiredAnswer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const expired = await readExpired(ledger, attempt);
    if (expired === null) {
      await forgetLease(ledger, attempt);
      return { kind: 'gone' };
    }
    const { running, seen, reported } = expired;
    const { usage, rows } = reported === '' ? NOTHING_REPORTED : (JSON.parse(reported) as RunningUsage);
    const end: LostAttempt = { ...decide(running), usage };
    const decision = decideSettlement(attempt, end, seen);
    const reply = await commitDecision(ledger, {
      ...decision,
      // The day has the others already.
      usage: reported === '' ? '' : JSON.stringify(rows),
      expired: JSON.stringify({ isGone, reported }),
    });
    if (reply.kind === 'settled') return { ...reply, running, end };
    if (reply.kind === 'held') return reply;
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was taken back`);
}

const NOTHING_REPORTED = { usage: null, rows: [] };

interface ExpiredAttempt {
  running: TaskState;
  seen: SeenTask;
  /** What it has used by its last report, JSON; empty without one. */
  reported: string;
}

/** Null when the task does not run, or runs in another attempt. */
async function readExpired({ redis, keys }: Ledger, { tenant, id, token }: AttemptRef): Promise<ExpiredAttempt | null> {
  const own = keys.tenant(tenant);
  const [stored, body, reported, now] = await Promise.all([
    redis.hget(own.states, id),
    redis.hget(own.bodies, id),
    redis.hget(own.runningUsage, `${id}:${token}`),
    redisNow(redis),
  ]);
  if (stored === null || body === null) return null;
  const seen = { stored, first: parseBody(body).first, now };
  const running = parseState(stored, seen.first);
  return hasAttempt(running.status) && running.token === token ? { running, seen, reported: reported ?? '' } : null;
}

/** A token is never the task's again, so its lease may go whatever happens meanwhile. */
async function forgetLease(ledger: Ledger, attempt: AttemptRef): Promise<void> {
  const { leases, signals } = shardKeys(ledger, attempt.tenant);
  const member = leaseMember(attempt);
  await Promise.all([ledger.redis.zrem(leases, member), ledger.redis.hdel(signals, member)]);
}
