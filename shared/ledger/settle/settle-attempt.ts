import { scriptJson } from '../../redis/index.ts';
import type { FirstState, TaskStatus } from '../../tasks/index.ts';
import type { AttemptRef } from '../claim/leases.ts';
import { contextKeys, contextOptions, laneKeys } from '../script-context.ts';
import { applyVerdict, type Settlement, type Verdict } from './apply-verdict.ts';
import type { Ledger } from '../ledger.ts';
import { isShortRun, parseShort, parseState, shortEnding } from '../codec/state.ts';
import { runGranting, scriptFailure } from '../script-calls.ts';
import { parseBody } from '../codec/body.ts';

/** `lost`: the token is not the task's any more; the attempt changed nothing. */
export type SettleAnswer = { kind: 'settled'; status: TaskStatus } | { kind: 'lost' };

/** What the worker knows of the task: its state as the claim stored it, what it began with, and Redis's time now, ms since the epoch. */
export interface Seen {
  stored: string;
  first: FirstState;
  now: number;
}

/** What the script is told of one settlement, and the status that the task will have. */
interface Decision {
  id: string;
  /** With the lane that the task's state says: it may have got one meanwhile. */
  lane: string | null;
  args: string[];
  status: TaskStatus;
}

type Reply = { kind: 'settled'; status: TaskStatus } | { kind: 'changed'; stored: string } | { kind: 'lost' };

/** A running task changes by a cancel and by its first input, once each, and by what its own worker takes. */
const TRIES = 5;

/**
 * Ends an attempt and moves its task on, in one script. When somebody changed the running task meanwhile, what follows is
 * decided anew from what it is now. Without `seen` the state is read first.
 */
export async function settleAttempt(ledger: Ledger, attempt: AttemptRef, verdict: Verdict, known?: Seen): Promise<SettleAnswer> {
  const settle = ledger.batched<Decision, Reply>('settle', (tenant, decisions) => settleBatch(ledger, tenant, decisions));
  let seen = known ?? (await readSeen(ledger, attempt));
  if (seen === null) return { kind: 'lost' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Here and not with the others of the batch: a verdict that nothing can be decided of is that attempt's alone.
    const decision = { id: attempt.id, ...decide(attempt, verdict, seen) };
    const reply = await settle(attempt.tenant, decision);
    if (reply.kind !== 'changed') return reply;
    seen = { stored: reply.stored, first: seen.first, now: seen.now };
  }
  throw new Error(`The task ${attempt.id} kept changing while its attempt was settled`);
}

async function readSeen({ redis, keys }: Ledger, { tenant, id }: AttemptRef): Promise<Seen | null> {
  const own = keys.tenant(tenant);
  const [stored, body] = await Promise.all([redis.hget(own.states, id), redis.hget(own.bodies, id)]);
  return stored === null || body === null ? null : { stored, first: parseBody(body).first, now: Date.now() };
}

async function settleBatch(ledger: Ledger, tenant: string, decided: Decision[]): Promise<(Reply | Error)[]> {
  const shard = ledger.keys.shard(ledger.keys.shardOf(tenant));
  const keys = ledger.keys.tenant(tenant);
  const replies = (await runGranting(
    ledger,
    tenant,
    'settle-attempts',
    [
      ...contextKeys(ledger, tenant),
      shard.leases,
      shard.signals,
      shard.ended,
      keys.outputs,
      keys.results,
      keys.attempts,
      shard.deadlines,
      shard.due,
      ...laneKeys(ledger, tenant, decided),
    ],
    [JSON.stringify(contextOptions(ledger, tenant)), decided.map(({ id }) => id).join(','), ...decided.flatMap(({ args }) => args)],
  )) as (number | string)[];
  const answers: (Reply | Error)[] = decided.map(({ status }) => ({ kind: 'settled', status }));
  for (let at = 0; at < replies.length; at += 3) answers[Number(replies[at]) - 1] = readRefusal(`${replies[at + 1]}`, `${replies[at + 2]}`);
  return answers;
}

function readRefusal(kind: string, detail: string): Reply | Error {
  if (kind === 'failed') return scriptFailure(detail, 'an attempt could not be settled');
  return kind === 'changed' ? { kind, stored: detail } : { kind: 'lost' };
}

/** Of the first attempt: the only one whose state may be short. */
const FIRST_TOKEN = 1;

function decide(attempt: AttemptRef, verdict: Verdict, seen: Seen): Omit<Decision, 'id'> {
  if (verdict.kind === 'completed' && attempt.token === FIRST_TOKEN && isShortRun(seen.stored)) return completeShort(verdict, seen);
  const running = parseState(seen.stored, seen.first);
  const lane = running.lane ?? null;
  if (running.status !== 'running' || running.token !== attempt.token) {
    // Somebody else's task by now: what no state is makes the script answer `lost`.
    const args = [headOf(attempt.token, running, 0, 'end none 0 none'), '', '', ''];
    return { lane, args, status: running.status };
  }
  const following = applyVerdict(running, verdict, Math.max(seen.now, running.startedAt ?? 0));
  const { state } = following;
  const [how, ...rest] = continuationOf(following, verdict);
  const args = [headOf(attempt.token, state, state.completedAt ?? 0, how), seen.stored, scriptJson(state), ...rest];
  return { lane, args, status: state.status };
}

/** The ordinary end of an ordinary task, which needs nothing read or written as JSON. */
function completeShort(verdict: Completed, { stored, first, now }: Seen): Omit<Decision, 'id'> {
  const completedAt = Math.max(now, parseShort(stored).run?.startedAt ?? 0);
  const head = headOf(FIRST_TOKEN, first, completedAt, `completed ${shortEnding(completedAt, verdict.usage)}`);
  return { lane: first.lane ?? null, args: [head, stored, ...answerOf(verdict)], status: 'completed' };
}

/** What the script is told first: of the task as it began or as it is, of its end, and how it goes on. */
function headOf(token: number, { lane, laneLimit = 1, class: ofClass, tell }: FirstState, endedAt: number, how: string): string {
  // By the record's own time: whoever tells of an end knows by it whether it is the one that was told already.
  const told = tell === undefined ? '-' : tell.map((kind) => `${kind}/${endedAt}`).join(',');
  return `${token} ${lane === undefined ? '-' : laneLimit} ${ofClass} ${told} ${how}`;
}

/** How it goes on, with what more is said of that in short, and the texts that belong to it. */
function continuationOf(following: Settlement, verdict: Verdict): [how: string, ...string[]] {
  const { state, goesOn, attempt, events } = following;
  const fact = factOf(following);
  if (verdict.kind === 'completed') return [`answered ${fact}`, ...answerOf(verdict)];
  const number = goesOn === 'later' || goesOn === 'yield' ? state.notBefore : state.ticket;
  return [`${goesOn} ${state.status} ${number} ${events.join(',')} ${fact}`, attempt === null ? '' : JSON.stringify(attempt)];
}

const FAILURES: ReadonlySet<TaskStatus> = new Set(['failed', 'timeout', 'permanently_failed']);

/** JSON of what the event stream says of an attempt besides its end. */
function factOf({ state: { attempt, error, status }, goesOn }: Settlement): string {
  if (!FAILURES.has(status)) return JSON.stringify({ attempt });
  return JSON.stringify({ attempt, code: error?.code, willRetry: goesOn !== 'end' });
}

type Completed = Extract<Verdict, { kind: 'completed' }>;

/** The final text and the result, JSON as text, of a task that completed. */
function answerOf({ output, result }: Completed): [output: string, result: string] {
  return [output, result === null || result === undefined ? '' : JSON.stringify(result)];
}
