import { scriptJson } from '../../redis/index.ts';
import type { FirstState, TaskState, TaskStatus } from '../../tasks/index.ts';
import { scriptFailure } from '../batches.ts';
import type { AttemptRef } from '../claim/leases.ts';
import { parseBody } from '../codec/body.ts';
import { completedShort, isShortRun, parseShort, parseState } from '../codec/state.ts';
import { contextKeys, laneKeys, runInContext, shardKeys } from '../context.ts';
import { levelName } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { applyVerdict, type Settlement, type AttemptEnd } from './apply-verdict.ts';

/** `lost`: the token is not the task's any more; the attempt changed nothing. */
export type SettleAnswer = { kind: 'settled'; status: TaskStatus } | { kind: 'lost' };

/** What the worker knows of the task: its state as the claim stored it, what it began with, and Redis's time now, ms since the epoch. */
interface Seen {
  stored: string;
  first: FirstState;
  now: number;
}

/** What the script commits for one attempt, if the task is still as it was seen. */
interface Decision extends Omit<AttemptRef, 'token'> {
  token: number;
  laneLimit: number | '';
  class: string;
  seen: string;
  next: string;
  status: TaskStatus;
  continuation: Settlement['continuation'];
  /** The next ticket for `now`, the due time for `later` and `yield`. */
  at: number | '';
  /** Where its ticket returns to, for `now`. */
  level: string;
  subscribers: string;
  events: string;
  fact: string;
  attempt: string;
  output: string;
  result: string;
  shared: string;
  hasDeadline: 1 | '';
}

type Reply = SettleAnswer | { kind: 'changed'; stored: string };

/** A running task changes by a cancel and by its first input, once each, and by what its own worker takes. */
const TRIES = 5;

/**
 * Settles an attempt and moves its task on, in one script. When the running task was changed meanwhile, the decision is made anew from
 * what it is now. Without `known` the state is read first.
 */
export async function settleAttempt(ledger: Ledger, attempt: AttemptRef, verdict: AttemptEnd, known?: Seen): Promise<SettleAnswer> {
  const read = known ?? (await readSeen(ledger, attempt));
  if (read === null) return { kind: 'lost' };
  let { stored } = read;
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Outside of the batch: an error in one verdict fails that attempt only.
    const decision = decide(attempt, verdict, { stored, first: read.first, now: read.now });
    const reply = await ledger.batches.add<Decision, Reply>({ ledger, run: settleAttempts, group: attempt.tenant }, decision);
    if (reply.kind !== 'changed') return reply;
    stored = reply.stored;
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was settled`);
}

async function readSeen({ redis, keys }: Ledger, { tenant, id }: AttemptRef): Promise<Seen | null> {
  const own = keys.tenant(tenant);
  const [stored, body] = await Promise.all([redis.hget(own.states, id), redis.hget(own.bodies, id)]);
  return stored === null || body === null ? null : { stored, first: parseBody(body).first, now: Date.now() };
}

/** Of the first attempt: the only one whose state may be short. */
const FIRST_TOKEN = 1;

function decide(attempt: AttemptRef, verdict: AttemptEnd, seen: Seen): Decision {
  if (verdict.kind === 'completed' && attempt.token === FIRST_TOKEN && isShortRun(seen.stored))
    return completeShort(attempt, verdict, seen);
  const running = parseState(seen.stored, seen.first);
  if (running.status !== 'running' || running.token !== attempt.token) return decideLost(attempt, running);
  const settlement = applyVerdict(running, verdict, Math.max(seen.now, running.startedAt ?? 0));
  const { state, continuation, events, attempt: ended } = settlement;
  return {
    ...decisionOf(attempt, running, state.completedAt ?? 0),
    seen: seen.stored,
    next: scriptJson(state),
    status: state.status,
    continuation,
    at: nextOf(settlement),
    level: settlement.continuation === 'now' ? levelName(state.queue, state.priority) : '',
    events: events.join(','),
    fact: factOf(settlement),
    attempt: ended === null ? '' : JSON.stringify(ended),
    ...answerOf(verdict),
  };
}

/** The next ticket, or the due time, of a task that continues. */
function nextOf({ continuation, state }: Settlement): number | '' {
  if (continuation === 'end') return '';
  return (continuation === 'now' ? state.ticket : state.notBefore) ?? '';
}

/** The ordinary end of an ordinary task, which needs nothing read or written as JSON. */
function completeShort(attempt: AttemptRef, verdict: Completed, { stored, first, now }: Seen): Decision {
  const completedAt = Math.max(now, parseShort(stored).run?.startedAt ?? 0);
  return {
    ...decisionOf(attempt, first, completedAt),
    seen: stored,
    next: completedShort(stored, completedAt, verdict.usage),
    events: 'task.completed',
    ...answerOf(verdict),
  };
}

/** The attempt's token is not the task's any more: no state is the one seen, so that the script answers `lost`. */
function decideLost(attempt: AttemptRef, { status, lane }: TaskState): Decision {
  return { ...decisionOf(attempt, { class: '' }, 0), lane: lane ?? null, laneLimit: lane === undefined ? '' : 1, status };
}

/** A decision about a task, as it began or as it is, that completes without an answer. The lane is that of the state: it may be new. */
function decisionOf(attempt: AttemptRef, state: Pick<FirstState, 'class'> & Partial<TaskState>, endedAt: number): Decision {
  const { tell = [], sharedLanes, createdAt, deadline, lane, laneLimit = 1 } = state;
  return {
    tenant: attempt.tenant,
    id: attempt.id,
    lane: lane ?? null,
    token: attempt.token,
    laneLimit: lane === undefined ? '' : laneLimit,
    class: state.class,
    seen: '',
    next: '',
    status: 'completed',
    continuation: 'end',
    at: '',
    level: '',
    // By the record's own time: a subscriber knows by it whether the end is the one that it has received already.
    subscribers: tell.map((kind) => `${kind}/${endedAt}`).join(','),
    events: '',
    fact: '',
    attempt: '',
    output: '',
    result: '',
    shared: sharedLanes === undefined ? '' : scriptJson({ createdAt, sharedLanes }),
    hasDeadline: deadline === undefined ? '' : 1,
  };
}

const FAILURES: ReadonlySet<TaskStatus> = new Set(['failed', 'timeout', 'permanently_failed']);

/** JSON of what the event says of an attempt besides its end. */
function factOf({ state: { attempt, error, status }, continuation }: Settlement): string {
  if (!FAILURES.has(status)) return JSON.stringify({ attempt });
  return JSON.stringify({ attempt, code: error?.code, willRetry: continuation !== 'end' });
}

type Completed = Extract<AttemptEnd, { kind: 'completed' }>;

/** The final text and the result of a task that completed. */
function answerOf(verdict: AttemptEnd): Pick<Decision, 'output' | 'result'> {
  if (verdict.kind !== 'completed') return { output: '', result: '' };
  const { output, result } = verdict;
  return { output, result: result === null || result === undefined ? '' : JSON.stringify(result) };
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
] as const satisfies readonly (keyof Decision)[];

/** Settles attempts of one tenant. */
async function settleAttempts(ledger: Ledger, decisions: readonly Decision[]): Promise<(Reply | Error)[]> {
  const tenant = decisions[0]?.tenant ?? '';
  const keys = ledger.keys.tenant(tenant);
  const shard = shardKeys(ledger, tenant);
  const replies = (await runInContext(ledger, {
    script: 'settle-attempts',
    tenant,
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
      ...laneKeys(ledger, tenant, decisions),
    ],
    args: [decisions.map(({ id }) => id).join(','), ...decisions.flatMap((decision) => ARGUMENTS.map((name) => decision[name]))],
  })) as (number | string)[];
  const answers: (Reply | Error)[] = decisions.map(({ status }) => ({ kind: 'settled', status }));
  for (let at = 0; at < replies.length; at += 3) answers[Number(replies[at]) - 1] = readRefusal(`${replies[at + 1]}`, `${replies[at + 2]}`);
  return answers;
}

function readRefusal(kind: string, detail: string): Reply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'an attempt could not be settled');
  return kind === 'changed' ? { kind, stored: detail } : { kind: 'lost' };
}
