import type { QueueMode } from '#shared/config/sources.ts';
import type { AcceptAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { acceptNewTask, offerMessage } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask, changePriority, type NewPriority, reopenTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { parseReadyTicket } from '#shared/ledger/grants/tickets.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { releaseHeld } from '#shared/ledger/grants/release-held.ts';
import { outboxEntry, parseOutboxEntry } from '#shared/ledger/grants/outbox.ts';
import { preemptTasks } from '#shared/ledger/grants/preempt-tasks.ts';
import { reissueTicket } from '#shared/ledger/grants/repair-tickets.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { laneOfTask } from '#shared/ledger/context.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { aTask, DONE, FAILURE, TENANT, type Held, type TaskWish, type TestLedger } from './test-ledger.ts';

/** One thing that somebody does to the fleet; `pick` chooses whom it happens to. */
export type Action =
  | { kind: 'accept'; lane: number; shared: number; priority: number; letter: string; later: boolean; sla: boolean; maxAttempts: number }
  | {
      kind: 'settle';
      pick: number;
      verdict: 'completed' | 'cancelled' | 'failed' | 'timeout' | 'interrupted' | 'held';
      delay: 'none' | 'now' | 'later';
      dies: boolean;
    }
  | { kind: 'reprioritize'; pick: number; priority: number }
  | ({ kind: 'offer' } & Offer)
  | { kind: 'take'; how: 'steered' | 'merged'; max: number }
  | { kind: Simple; pick: number };

type Simple = 'deliver' | 'sweep' | 'lose' | 'claim' | 'expire' | 'cancel' | 'reopen' | 'due' | 'input' | 'start' | 'preempt' | 'release';

/** A message, as its sender and its agent make it. */
export interface Offer {
  lane: number;
  mode: QueueMode | null;
  agent: string;
  user: string | null;
  takesInput: boolean;
  number: number | null;
  yields: boolean;
  maxAttempts: number;
}

interface Ticket {
  task: string;
  number: number;
}

interface Work extends Held {
  ticket: Ticket;
  /** The state as the worker knows it. */
  stored: string;
}

const LATER_MS = 3_600_000;
const SHARED_LANES = [
  { name: 'gpu', limit: 1 },
  { name: 'disk', limit: 2 },
  { name: 'desk', limit: 1 },
];
const HOLDS: [TaskHold, TaskHold] = [
  { gate: 'budget', what: 'session a/b' },
  { gate: 'provider', what: '100%' },
];
const LANE_LIMITS = [1, 1, 2];
const DRAIN_ROUNDS = 400;

/** What is of the highest priority is critical. */
function queueOf(priority: number): 'critical' | 'tasks' {
  return priority === 10 ? 'critical' : 'tasks';
}

/**
 * A fleet without BullMQ and without agents: tickets are a list, workers are what they were told by the ledger, some of them
 * long gone. Every action is one that a real process can do at that moment, or a crash in the middle of one.
 */
export class FleetModel {
  readonly #test: TestLedger;
  readonly accepted: string[] = [];
  readonly #lanes = new Map<string, string | null>();
  #work: Work[] = [];
  reopened = 0;
  readonly #actions: Record<Simple, (pick: number, ledger: Ledger) => Promise<void>> = {
    deliver: (pick) => this.#deliver(pick),
    sweep: (pick, ledger) => this.#sweep(pick, ledger),
    lose: (pick, ledger) => this.#lose(pick, ledger),
    claim: (pick, ledger) => this.#claim(pick, ledger),
    expire: (pick, ledger) => this.#expire(pick, ledger),
    cancel: (pick, ledger) => this.#cancel(pick, ledger),
    reopen: (pick, ledger) => this.#reopen(pick, ledger),
    due: (pick) => this.#due(pick),
    input: (pick, ledger) => this.#input(pick, ledger),
    start: (_pick, ledger) => this.#start(ledger),
    preempt: (_pick, ledger) => this.#preempt(ledger),
    release: (pick, ledger) => this.#release(pick, ledger),
  };

  constructor(test: TestLedger) {
    this.#test = test;
  }

  async do(action: Action, ledger: Ledger): Promise<void> {
    const { kind } = action;
    if (kind === 'accept') await this.#accept(action, ledger);
    else if (kind === 'settle') await this.#settle(action, ledger);
    else if (kind === 'reprioritize') await this.#reprioritize(action, ledger);
    else if (kind === 'offer') await this.#offer(action, ledger);
    else if (kind === 'take') await this.#take(action, ledger);
    else await this.#actions[kind](action.pick, ledger);
  }

  /** Lets everything run to its end, with workers that do nothing wrong any more. */
  async drain(): Promise<void> {
    const { ledger } = this.#test;
    for (let round = 0; round < DRAIN_ROUNDS; round += 1) {
      const live = await this.#live();
      if (live.length === 0 && this.#work.length === 0) return;
      for (const id of live) await this.#test.makeDue(id);
      for (const hold of HOLDS) await releaseHeld(ledger, TENANT, hold, 10_000);
      await this.#start(ledger);
      while (this.#work.length > 0) await this.#settleWith(0, DONE, ledger, true);
    }
    throw new Error(`These tasks never ended: ${(await this.#live()).join(', ')}`);
  }

  /** Every ticket is brought, and claimed once. */
  async #start(ledger: Ledger): Promise<void> {
    while ((await this.#entry(0)) !== undefined) await this.#deliver(0);
    for (let left = (await this.#ready()).length; left > 0; left -= 1) await this.#claim(0, ledger);
  }

  async #live(): Promise<string[]> {
    const states = await Promise.all(this.accepted.map(async (id) => await this.#test.state(id)));
    return this.accepted.filter((_, position) => !isTerminal(states[position]?.status ?? 'pending'));
  }

  #place(id: string): { tenant: string; id: string; lane: string | null } {
    return { tenant: TENANT, id, lane: this.#lanes.get(id) ?? null };
  }

  async #accept(
    { lane, shared, priority, letter, later, sla, maxAttempts }: Extract<Action, { kind: 'accept' }>,
    ledger: Ledger,
  ): Promise<void> {
    const limit = LANE_LIMITS[lane];
    const wish: TaskWish = {
      priority,
      queue: queueOf(priority),
      maxAttempts,
      class: `${letter}${priority === 1 ? 0 : 1}`,
      ...(limit === undefined ? {} : { lane: { name: `lane-${lane}`, limit } }),
      sharedLanes: SHARED_LANES.filter((_, position) => (shared >> position) % 2 === 1),
      ...(later ? { scheduledFor: Date.now() + LATER_MS } : {}),
      ...(sla ? { sla: Date.now() + LATER_MS, slaLeadMs: 2 * LATER_MS } : {}),
    };
    const answer = await acceptNewTask(ledger, aTask(wish));
    this.#knows(answer, limit === undefined ? null : `lane-${lane}`);
  }

  async #offer({ lane, number, mode, yields, ...rest }: Offer, ledger: Ledger): Promise<void> {
    const limit = LANE_LIMITS[lane];
    const order = number === null ? {} : { order: number };
    const own = limit === undefined ? {} : { lane: { name: `lane-${lane}`, limit, ...order } };
    const task = aTask({ ...rest, ...own, mode, yields, callbackUrl: 'http://127.0.0.1/' });
    this.#knows(await acceptNewTask(ledger, task), limit === undefined ? null : `lane-${lane}`);
  }

  /** Somebody offers input to a task that perhaps runs. */
  async #input(pick: number, ledger: Ledger): Promise<void> {
    const work = this.#work[pick % Math.max(1, this.#work.length)];
    if (!work) return;
    const { lane, laneLimit, agent } = await this.#test.state(work.id);
    const own = { name: lane ?? laneOfTask(work.id), limit: laneLimit ?? 1 };
    const answer = await offerMessage(ledger, aTask({ lane: own, agent, mode: 'steer', takesInput: true }), work.id);
    if (answer.kind !== 'refused') this.#knows(answer, own.name);
  }

  #knows(answer: AcceptAnswer, lane: string | null): void {
    if (answer.kind !== 'accepted') return;
    this.#lanes.set(answer.id, lane);
    this.accepted.push(answer.id);
  }

  /** Every worker takes what waits for it, those that are frozen as well. */
  async #take({ how, max }: Extract<Action, { kind: 'take' }>, ledger: Ledger): Promise<void> {
    const takes = this.#work.map(async (work) => {
      const answer = await takeInput(ledger, work, how, max);
      if (answer.kind === 'taken') work.stored = answer.stored;
    });
    await Promise.all(takes);
  }

  async #entry(pick: number): Promise<string | undefined> {
    const { redis, keys } = this.#test;
    const entries = await redis.zrange(keys.shard(0).outbox, '0', '-1');
    return entries[pick % Math.max(1, entries.length)];
  }

  /** The relay brings an entry's tickets to the queue. */
  async #deliver(pick: number): Promise<void> {
    const entry = await this.#entry(pick);
    if (entry === undefined) return;
    await this.#pay(entry);
  }

  async #pay(entry: string): Promise<void> {
    await this.#test.redis.zrem(this.#test.keys.shard(0).outbox, entry);
  }

  /** The relay was gone; the sweep makes the tickets of an entry again. */
  async #sweep(pick: number, ledger: Ledger): Promise<void> {
    const entry = await this.#entry(pick);
    if (entry === undefined) return;
    for (const ticket of parseOutboxEntry(entry).tickets) await reissueTicket(ledger, TENANT, ticket);
    await this.#pay(entry);
  }

  /** Tickets of tasks that stand at a slot. */
  async #ready(): Promise<Ticket[]> {
    const texts = await this.#test.redis.zrange(this.#test.keys.shard(0).ready, '0', '-1');
    return texts.map(parseReadyTicket).map(({ task, number }) => ({ task, number }));
  }

  /** A process that took a ticket to look at it is gone; the audit misses it. */
  async #lose(pick: number, ledger: Ledger): Promise<void> {
    const { redis, keys } = this.#test;
    const texts = await redis.zrange(keys.shard(0).ready, '0', '-1');
    const text = texts[pick % Math.max(1, texts.length)];
    if (text === undefined) return;
    const ticket = parseReadyTicket(text);
    await redis.zrem(keys.shard(0).ready, text);
    await reissueTicket(ledger, TENANT, ticket);
  }

  async #claim(pick: number, ledger: Ledger): Promise<void> {
    const ready = await this.#ready();
    const ticket = ready[pick % Math.max(1, ready.length)];
    if (!ticket) return;
    const place = this.#place(ticket.task);
    const answer = await claimTask(ledger, place, 'w1');
    if (answer.kind === 'claimed') {
      const { state, stored } = answer;
      this.#work.push({ ...place, token: state.token, state, stored, ticket });
    }
  }

  async #settle({ pick, verdict, delay, dies }: Extract<Action, { kind: 'settle' }>, ledger: Ledger): Promise<void> {
    const delayMs = { none: null, now: 0, later: LATER_MS }[delay];
    const work = this.#work[pick % Math.max(1, this.#work.length)];
    if (!work) return;
    // The worker decides whether there is a next attempt; the ledger does as it says.
    const isLast = work.state.spent >= work.state.maxAttempts;
    const verdicts: Record<typeof verdict, AttemptEnd> = {
      completed: DONE,
      cancelled: { kind: 'cancelled', reason: 'asked to' },
      interrupted: { kind: 'interrupted', reason: 'drain', delayMs: delayMs ?? 0 },
      held: { kind: 'interrupted', reason: 'no money', delayMs, hold: HOLDS[pick % HOLDS.length] ?? HOLDS[0] },
      failed: { kind: 'failed', error: FAILURE, delayMs: isLast ? null : delayMs, usage: null },
      timeout: { kind: 'timeout', error: FAILURE, delayMs: isLast ? null : delayMs, usage: null },
    };
    await this.#settleWith(pick, verdicts[verdict], ledger, !dies);
  }

  /** A worker that dies right after it settled does not put its ticket back; the outbox still has it. */
  async #settleWith(pick: number, verdict: AttemptEnd, ledger: Ledger, putsBack: boolean): Promise<void> {
    const work = this.#work[pick % Math.max(1, this.#work.length)];
    if (!work) return;
    this.#work = this.#work.filter((each) => each !== work);
    const settled = await settleAttempt(ledger, work, verdict, { stored: work.stored, first: work.state, now: Date.now() });
    if (settled === 'lost' || isTerminal(settled.status) || !putsBack) return;
    // What goes on later gets another ticket then.
    if ('hold' in verdict || ('delayMs' in verdict && (verdict.delayMs ?? 0) > 0)) return;
    await this.#pay(outboxEntry(TENANT, [work.ticket]));
  }

  /** The worker is frozen past its lease. It stays among the workers and will try to settle. */
  async #expire(pick: number, ledger: Ledger): Promise<void> {
    const work = this.#work[pick % Math.max(1, this.#work.length)];
    if (!work) return;
    const { redis, keys } = this.#test;
    // Only when it still has one: a lease is never made this way.
    await redis.zadd(keys.shard(0).leases, 'XX', 1, `${TENANT}/${work.id}/${work.token}`);
    await expireLease(ledger, work);
  }

  async #reprioritize({ pick, priority }: Extract<Action, { kind: 'reprioritize' }>, ledger: Ledger): Promise<void> {
    const id = this.#anyone(pick);
    if (id === undefined) return;
    const letter = (await this.#test.state(id)).class.slice(0, 1);
    const change: NewPriority = { priority, queue: queueOf(priority), class: `${letter}${priority === 1 ? 0 : 1}` };
    await changePriority(ledger, TENANT, id, change);
  }

  #anyone(pick: number): string | undefined {
    return this.accepted[pick % Math.max(1, this.accepted.length)];
  }

  async #cancel(pick: number, ledger: Ledger): Promise<void> {
    const id = this.#anyone(pick);
    if (id !== undefined) await cancelTask(ledger, this.#place(id), 'no more');
  }

  async #preempt(ledger: Ledger): Promise<void> {
    await preemptTasks(ledger, TENANT);
  }

  async #release(pick: number, ledger: Ledger): Promise<void> {
    await releaseHeld(ledger, TENANT, HOLDS[pick % HOLDS.length] ?? HOLDS[0], 2);
  }

  async #due(pick: number): Promise<void> {
    const id = this.#anyone(pick);
    if (id !== undefined) await this.#test.makeDue(id);
  }

  async #reopen(pick: number, ledger: Ledger): Promise<void> {
    const id = this.#anyone(pick);
    if (id !== undefined && (await reopenTask(ledger, this.#place(id))).kind === 'reopened') this.reopened += 1;
  }
}
