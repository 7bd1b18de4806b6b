import { deepEqual } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { changePriority } from '#shared/ledger/change-task.ts';
import { claimForSlots, type SlotAnswer } from '#shared/ledger/claim/claim-for-slots.ts';
import { applyLimits } from '#shared/ledger/grants/apply-limits.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { releaseHeld } from '#shared/ledger/grants/release-held.ts';
import { FleetOrder, type OrderedTask, type Sequel } from '#shared/ledger/order/fleet-order.ts';
import { type GateLimits, NO_LIMITS } from '#shared/ledger/order/gated-task.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import type { TaskQueue } from '#shared/config/sources.ts';
import { aTask, DONE, type Held, limitsOf, retry, type TestLedger } from '../support/test-ledger.ts';
import { orderProblems, passedOver } from './order-problems.ts';
import { LIMITED, type PlayedWorker, playedWorkers } from './played-workers.ts';
import { type Ending, type Figures, type Step, TENANTS, type Wish } from './steps.ts';

const HOUR_MS = 3_600_000;
const LANES = ['agent:gpu', 'agent:disk'];

interface Running {
  held: Held;
  /** The state as the worker knows it. */
  stored: string;
  task: OrderedTask;
  release: () => void;
}

/** FleetPlay is responsible for playing each step on the ledger and on the specification, and for what must be the same then. */
export class FleetPlay {
  readonly #test: TestLedger;
  readonly #order = new FleetOrder();
  readonly #workers: PlayedWorker<Running>[] = playedWorkers();
  #acceptedAt = 0;
  readonly #actions: { [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => Promise<void> } = {
    accept: async (step) => await this.#accept(step),
    claim: async ({ calls }) => await this.#claimTogether(calls),
    end: async (step) => await this.#end(step),
    kill: async ({ worker }) => await this.#kill(worker),
    due: async ({ pick }) => await this.#bringDue(this.#waiting(pick, this.#parked)),
    cancel: async ({ pick }) => await this.#cancel(this.#waiting(pick)),
    hold: async ({ pick, name }) => await this.#hold(this.#waiting(pick), name),
    reprioritize: async (step) => await this.#reprioritize(this.#waiting(step.pick), step),
    release: async (step) => await this.#release(step),
    pause: async ({ queue }) => await this.#pause(queue),
    span: async () => await this.#endSpan(),
    age: async () => await this.#age(),
    limit: async ({ tenant, figures }) => await this.#limit(tenant, figures),
  };
  readonly #parked = new Set<string>();

  constructor(test: TestLedger, cap: FleetOrder['cap']) {
    this.#test = test;
    this.#order.cap = cap;
    // As the tasks say themselves.
    const limits = { ...NO_LIMITS, lanes: Object.fromEntries(LANES.map((lane) => [lane, 1])) };
    for (const tenant of TENANTS) this.#order.limit(tenant, { limits, weight: 1 });
  }

  /** Has Redis know the scripts: a call that has to bring its own comes behind those that were sent after it. */
  async warm(): Promise<void> {
    const wish = { kind: 'accept', queue: 'tasks', priority: 5, letter: 'u', agent: 'echo', lanes: 0, session: 0, count: 1 } as const;
    for (const tenants of [['b'], ['b', 'c']]) {
      for (const tenant of tenants) await this.do({ ...wish, tenant, early: false, later: false, awaited: false });
      await this.do({ kind: 'claim', calls: [{ worker: 0, count: 2 }] });
      await this.do({ kind: 'end', worker: 0, ends: [0, 1].map((pick) => ({ pick, how: 'done' as const })), claims: false });
    }
  }

  async do(each: Step): Promise<void> {
    for (const tenant of TENANTS) this.#order.gatesOf(tenant).now += 1;
    await (this.#actions[each.kind] as (step: Step) => Promise<void>)(each);
  }

  /** What differs, in words. */
  async problems(): Promise<string[]> {
    return await orderProblems(this.#test, this.#order);
  }

  /** How much waits and runs. */
  get size(): number {
    return this.#order.tasks.length;
  }

  /** In the lines of sessions those of one millisecond stand by what they came back from. */
  async #accept({ later, count, ...wish }: Wish): Promise<void> {
    while (Date.now() <= this.#acceptedAt) await setImmediate();
    const answers = await Promise.all(
      Array.from({ length: count }, async (_, n) => await acceptNewTask(this.#test.ledger, newTask({ ...wish, later, count: n }))),
    );
    for (const answer of answers) {
      if (answer.kind !== 'accepted') throw new Error(answer.kind);
      const task = orderedTask(wish.tenant, answer.id, (await this.#test.taskOf(wish.tenant, answer.id)).state);
      this.#acceptedAt = Math.max(this.#acceptedAt, task.acceptedAt);
      if (later) this.#order.acceptForLater(task);
      else this.#order.accept(task);
      if (later) this.#parked.add(task.id);
    }
  }

  /** Calls of several workers that reach Redis one right after the other. */
  async #claimTogether(calls: readonly { worker: number; count: number }[]): Promise<void> {
    const claims = new Map(calls.map(({ worker, count }) => [this.#workers[worker], count]));
    const expected = [...claims].flatMap(([worker, count]) => (worker ? [{ worker, ...this.#expect(worker, count) }] : []));
    const answers = await Promise.all(expected.map(async ({ worker, count }) => await this.#claim(worker, count, [])));
    for (const [at, { worker, tasks }] of expected.entries()) this.#start(worker, tasks, answers[at]);
  }

  /** What the specification gives so many slots of a worker. */
  #expect(worker: PlayedWorker<Running>, count: number): { count: number; tasks: OrderedTask[] } {
    const before = this.#order.slots.tasks;
    const tasks = this.#order.claim(worker.pool(), count, Date.now());
    deepEqual(passedOver(worker, before, tasks), [], 'a better task was passed over');
    return { count, tasks };
  }

  async #claim(worker: PlayedWorker<Running>, count: number, ended: readonly Held[]): Promise<SlotAnswer> {
    return await claimForSlots(this.#test.ledger, {
      shard: 0,
      worker: worker.name,
      queues: worker.queues.map((queue) => ({ queue, pauses: this.#pauseKey(queue) })),
      count,
      left: 0,
      pool: worker.pool(),
      drawn: [],
      ended: ended.map(({ tenant, id, token }) => `${tenant}/${id}/${token}`),
    });
  }

  #start(worker: PlayedWorker<Running>, tasks: readonly OrderedTask[], answer: SlotAnswer | undefined): void {
    const started = answer?.tickets.map(({ ticket }) => ticket.task) ?? [];
    deepEqual(
      started,
      tasks.map(({ id }) => id),
    );
    for (const [position, { ticket, claimed }] of answer?.tickets.entries() ?? []) {
      const task = tasks[position];
      if (!claimed || !task) throw new Error(`The task ${ticket.task} did not start`);
      const { state } = claimed;
      const held = { tenant: ticket.tenant, id: task.id, lane: ticket.lane, token: state.token, state };
      worker.running.push({ held, stored: claimed.stored, task, release: worker.slots.use(task, Date.now()) });
    }
  }

  /** Attempts end in one call, and their slots claim in the same round trip. */
  async #end({ worker: at, ends, claims }: Extract<Step, { kind: 'end' }>): Promise<void> {
    const worker = this.#workers[at];
    if (!worker || worker.running.length === 0) return;
    const hows = new Map(ends.map(({ pick, how }) => [worker.running[pick % worker.running.length], how]));
    const ending = [...hows].flatMap(([running, how]) => (running ? [{ running, how: possible(how, running.held.state) }] : []));
    for (const { running } of ending) this.#leave(worker, running);
    const settled = Promise.all(ending.map(async ({ running, how }) => await this.#settle(running, how)));
    this.#order.settle(ending.map(({ running, how }) => ({ id: running.task.id, sequel: sequelOf(how) })));
    for (const { running, how } of ending) if (how === 'retry' || how === 'later') this.#parked.add(running.task.id);
    if (claims) {
      const { count, tasks } = this.#expect(worker, ending.length);
      const claim = this.#claim(
        worker,
        count,
        ending.map(({ running }) => running.held),
      );
      this.#start(worker, tasks, await claim);
    }
    await settled;
  }

  async #settle({ held, stored }: Running, how: Ending): Promise<void> {
    const answer = await settleAttempt(this.#test.ledger, held, endOf(how), { stored, first: held.state, now: Date.now() });
    if (answer === 'lost') throw new Error(`The attempt of ${held.id} was lost`);
  }

  #leave(worker: PlayedWorker<Running>, running: Running): void {
    worker.running.splice(worker.running.indexOf(running), 1);
    running.release();
  }

  /** A worker is lost with all that it runs. */
  async #kill(at: number): Promise<void> {
    const worker = this.#workers[at];
    if (!worker) return;
    for (const running of worker.running.slice()) {
      this.#leave(worker, running);
      await this.#test.endLease(running.held);
      const answer = await expireLease(this.#test.ledger, running.held);
      const { id } = running.task;
      this.#order.settle([{ id, sequel: answer === 'ended' ? 'end' : 'later' }]);
      if (answer === 'requeued') this.#parked.add(id);
    }
  }

  /** One of the tasks that do not run. */
  #waiting(pick: number, which?: ReadonlySet<string>): OrderedTask | undefined {
    const running = new Set(this.#order.running.map(({ id }) => id));
    const tasks = this.#order.tasks.filter(({ id }) => !running.has(id) && (which?.has(id) ?? true));
    return tasks[pick % Math.max(1, tasks.length)];
  }

  async #bringDue(task: OrderedTask | undefined): Promise<void> {
    if (!task) return;
    await this.#test.makeDue(task.id, 'notBefore', task.tenant);
    this.#order.resume(task.id);
    this.#parked.delete(task.id);
  }

  async #cancel(task: OrderedTask | undefined): Promise<void> {
    if (!task) return;
    await this.#test.cancelled(task.tenant, task.id);
    this.#order.cancel(task.id);
    this.#parked.delete(task.id);
  }

  async #hold(task: OrderedTask | undefined, what: string): Promise<void> {
    if (!task || this.#order.placeOf(task).kind !== 'granted') return;
    const { id, tenant } = task;
    await holdTask(this.#test.ledger, { tenant, id, hold: { gate: 'budget', what }, until: null });
    this.#order.hold(id, what);
  }

  async #reprioritize(task: OrderedTask | undefined, { priority, queue }: Extract<Step, { kind: 'reprioritize' }>): Promise<void> {
    if (!task) return;
    const { id, tenant } = task;
    const change = { priority, queue, class: classOf(task.class.charAt(0), priority) };
    await changePriority(this.#test.ledger, tenant, id, change);
    this.#order.reprioritize(id, change);
  }

  async #release({ tenant, name, max }: Extract<Step, { kind: 'release' }>): Promise<void> {
    const released = await releaseHeld(this.#test.ledger, tenant, { gate: 'budget', what: name }, max);
    deepEqual(released, this.#order.release(tenant, name, max));
  }

  async #limit(tenant: string, { gpu, disk, running, low, webhook, weight }: Figures): Promise<void> {
    const byClass = webhook === null ? {} : { webhook };
    const caps = limitsOf({ runningByAgent: { gpu, disk }, running, runningLow: low, runningByClass: byClass, weight });
    this.#test.limitsByTenant.set(tenant, caps);
    await applyLimits(this.#test.ledger, tenant);
    const limits: GateLimits = {
      lanes: { 'agent:gpu': gpu, 'agent:disk': disk },
      running,
      low,
      byLetter: webhook === null ? {} : { w: webhook },
    };
    this.#order.limit(tenant, { limits, weight });
  }

  async #pause(queue: TaskQueue): Promise<void> {
    const { paused } = this.#order.slots;
    if (paused.delete(queue)) {
      await this.#test.redis.hdel(this.#pauseKey(queue), 'paused');
    } else {
      paused.add(queue);
      await this.#test.redis.hset(this.#pauseKey(queue), 'paused', '1');
    }
  }

  /** The span of the queue's limiter is over. */
  async #endSpan(): Promise<void> {
    await this.#test.redis.hdel(`${this.#test.keys.shard(0).jobs}:starts`, LIMITED);
    this.#order.slots.spans.delete(LIMITED);
  }

  /** Makes it long ago that others could pass those that wait, in their order, and lets a step see that. */
  async #age(): Promise<void> {
    for (const tenant of TENANTS) {
      const gates = this.#order.gatesOf(tenant);
      for (const [at, { id }] of gates.ageAll().entries()) await this.#test.setPassed(id, at + 1, tenant);
      await applyLimits(this.#test.ledger, tenant);
      gates.step();
    }
  }

  #pauseKey(queue: TaskQueue): string {
    return `${this.#test.keys.shard(0).queues}:${queue}:meta`;
  }
}

function classOf(letter: string, priority: number): string {
  return `${letter}${priority === 1 ? 0 : 1}`;
}

function newTask({ queue, tenant, priority, letter, agent, lanes, session, early, later, awaited, count }: Wish): ReturnType<typeof aTask> {
  return aTask({
    queue,
    tenant,
    priority,
    agent,
    class: classOf(letter, priority),
    sharedLanes: LANES.filter((_, at) => (lanes >> at) % 2 === 1).map((name) => ({ name, limit: 1 })),
    awaitedBy: awaited ? `k${count % 2}` : undefined,
    ...(session === 0 ? {} : { lane: { name: `talk-${session}`, limit: session === 3 ? 2 : 1 } }),
    ...(later ? { scheduledFor: Date.now() + HOUR_MS } : {}),
    ...(early ? { sla: Date.now() + HOUR_MS, slaLeadMs: 24 * HOUR_MS } : {}),
  });
}

function orderedTask(tenant: string, id: string, state: TaskState): OrderedTask {
  const { queue, priority, agent, createdAt, ranksFrom = createdAt, lane, laneLimit = 1, sharedLanes = [] } = state;
  return {
    id,
    tenant,
    queue,
    priority,
    agent,
    class: state.class,
    acceptedAt: createdAt,
    from: Math.min(ranksFrom, createdAt),
    costMs: state.costMs ?? 1000,
    awaitedBy: state.awaitedBy,
    session: lane === undefined ? null : { name: lane, limit: laneLimit },
    lanes: sharedLanes.map(({ name }) => name),
  };
}

/** The last attempt has no retry. */
function possible(how: Ending, { spent, maxAttempts }: TaskState): Ending {
  return how === 'retry' && spent >= maxAttempts ? 'done' : how;
}

function endOf(how: Ending): Parameters<typeof settleAttempt>[2] {
  const interrupted = { kind: 'interrupted', reason: 'drain' } as const;
  const hold = { gate: 'budget', what: how === 'held' ? 'a' : 'b' } as const;
  return {
    done: DONE,
    retry: retry(HOUR_MS),
    again: { ...interrupted, delayMs: 0 },
    later: { ...interrupted, delayMs: HOUR_MS },
    held: { ...interrupted, delayMs: null, hold },
    blocked: { ...interrupted, delayMs: null, hold },
  }[how];
}

function sequelOf(how: Ending): Sequel {
  if (how === 'held' || how === 'blocked') return { hold: how === 'held' ? 'a' : 'b' };
  return ({ done: 'end', again: 'again', retry: 'later', later: 'later' } as const)[how];
}
