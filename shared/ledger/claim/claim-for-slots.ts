import type { TaskQueue } from '../../config/index.ts';
import { parseBody } from '../codec/body.ts';
import { parseState } from '../codec/state.ts';
import { outboxEntry } from '../grants/outbox.ts';
import { type IssuedTicket, parseReadyTicket } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { settleAttempts } from '../settle/settle-attempt.ts';
import type { ClaimedTask, ClaimIsolation } from './claim-task.ts';
import { runClaim } from './run-claim.ts';

/** What runs in a worker's slots, and what may start there; see `order.lua`. */
export interface SlotPool {
  /** Slots for any ticket; of these, those for tickets that are not critical; and of these, those kept for people. */
  free: number;
  ordinary: number;
  people: number;
  /** Slots kept for people that tasks may have which a key waits for, and the keys that have one. */
  awaited: number;
  keys: Record<string, true>;
  queues: Record<string, { weight: number; running: number }>;
  bands: Record<string, { share: number; running: number }>;
  /** Low tickets at once beside others. */
  maxLow: number;
  /** Priorities from which tickets are high, and up to which they are low. */
  highFrom: number;
  lowTo: number;
  /** A low ticket that waited for so long counts as a normal one, ms. */
  lowAgeMs: number;
  /** Agents, and versions of them (`<agent>@<version>`), that other workers have and this one lacks, between commas; empty for none. */
  foreign: string;
  /** Starts of a queue: `max` in each span of `duration` ms. */
  limits: Record<string, { max: number; duration: number }>;
}

/** A job that a slot drew from BullMQ. */
export interface DrawnJob {
  tenant: string;
  task: string;
  /** Whether it came back to BullMQ before. */
  isSecond: boolean;
}

/** What a worker's slots ask of a shard. */
export interface SlotClaim {
  shard: number;
  worker: string;
  /** The queues that it serves, each with the key that has BullMQ's pause of it; with `isApart` only their tickets are taken. */
  queues: readonly { queue: TaskQueue; pauses: string; isApart?: boolean }[];
  /** Slots that are to get a task now. */
  count: number;
  /** Further slots, for which the worker's next call asks where this one fills all of its own. */
  left: number;
  /** It is sent at once, before what this turn of the event loop still adds. */
  isUrgent?: boolean;
  pool: SlotPool;
  drawn: readonly DrawnJob[];
  /** The members of the leases that the slots' last attempts had. */
  ended: readonly string[];
  isolation?: ClaimIsolation | undefined;
}

/** A task that was started in the step that chose it. */
export interface HandedOver extends ClaimedTask {
  /** When the call was sent, in monotonic milliseconds. */
  sentAt: number;
}

/**
 * Why a task that a slot got did not start: `apart`, only its ticket was to be taken; `suspect`, a process was lost under it, and this one
 * holds others; `waits`, it waits for something else, as `reviewTask` finds; `gone`, it has ended or has another ticket.
 */
export type Obstacle = 'apart' | 'suspect' | 'waits' | 'gone';

/** A ticket that a slot got. */
export interface TakenTicket {
  ticket: IssuedTicket;
  claimed?: HandedOver;
  obstacle?: Obstacle;
  /** Of a suspect: how many processes were lost under it. */
  losses: number;
  /** Whether BullMQ has a job of it which no worker has drawn. */
  hasJob: boolean;
}

/**
 * What becomes of a drawn job: its own ticket was `taken`; it is `stale`; it goes back to BullMQ, or is removed because nothing may start it
 * now.
 */
export type DrawnFate = 'taken' | 'stale' | 'returned' | 'removed';

export interface SlotAnswer {
  tickets: TakenTicket[];
  /** Of each drawn job. */
  drawn: DrawnFate[];
  /** Queues that start nothing more until then, by their limiter, ms since the epoch. */
  closed: ReadonlyMap<TaskQueue, number>;
}

/** How long what a worker says of its idle slots holds, ms: it says it again every twenty seconds, and with each claim. */
const IDLE_MS = 50_000;

/** Gives free slots the best tasks of a shard that stand at `slot`, in the round trip that settles what these slots ran before. */
export async function claimForSlots(ledger: Ledger, claim: SlotClaim): Promise<SlotAnswer> {
  const { shard, worker, isUrgent = false } = claim;
  return await ledger.batches.add({ ledger, run: claimEach, group: `${shard} ${worker}`, after: settleAttempts, isUrgent }, claim);
}

/** A worker has one claim of a shard under way. */
async function claimEach(ledger: Ledger, claims: readonly SlotClaim[]): Promise<SlotAnswer[]> {
  return await Promise.all(claims.map((claim) => claimNow(ledger, claim)));
}

async function claimNow(
  ledger: Ledger,
  { shard, worker, queues, count, left, pool, drawn, ended, isolation }: SlotClaim,
): Promise<SlotAnswer> {
  const sentAt = performance.now();
  const { words, closed, tickets } = await runClaim(ledger, {
    shard,
    worker,
    keys: queues.map(({ pauses }) => pauses),
    options: { pool, apart: flags(queues.filter(({ isApart }) => isApart).map(({ queue }) => queue)), isolation, left, idleMs: IDLE_MS },
    queues: queues.map(({ queue }) => queue),
    count,
    given: [],
    drawn: drawn.map(({ tenant, task, isSecond }) => `${tenant}/${task} ${isSecond ? 1 : 0}`),
    ended,
  });
  return {
    drawn: words as DrawnFate[],
    closed: new Map(closed.map((each) => each.split('=')).map(([queue, until]) => [queue as TaskQueue, Number(until)])),
    tickets: tickets.map(({ name, state, body, hasJob }) => {
      const parsed = parseReadyTicket(name);
      const ticket = { ...parsed, entry: outboxEntry(parsed.tenant, [parsed]) };
      if (isObstacle(state)) return { ticket, obstacle: state, losses: Number(body), hasJob };
      const stored = parseBody(body);
      return { ticket, claimed: { body: stored, state: parseState(state, stored.first), stored: state, sentAt }, losses: 0, hasJob };
    }),
  };
}

export function isObstacle(word: string): word is Obstacle {
  return word === 'apart' || word === 'suspect' || word === 'waits' || word === 'gone';
}

function flags(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}
