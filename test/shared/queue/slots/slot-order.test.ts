import { type Arbitrary, array, boolean, constant, constantFrom, integer, nat, oneof, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskQueue } from '#shared/config/sources.ts';
import { claimForSlots } from '#shared/ledger/claim/claim-for-slots.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { RunningSlots } from '#shared/queue/slots/running-slots.ts';
import type { SlotPolicy } from '#shared/queue/slots/slot-policy.ts';
import { playScenarios } from '../../ledger/support/play-scenarios.ts';
import { DONE, TENANT, type Held } from '../../ledger/support/test-ledger.ts';
import { useLedger } from '../../ledger/support/use-ledger.ts';
import { SchedulerModel, type Standing } from './scheduler-model.ts';

const SEED = Date.now() % 2_147_483_647;
const BUDGET_MS = 6000;
const HOUR_MS = 3_600_000;
const QUEUES = ['critical', 'chat', 'webhooks', 'tasks', 'background'] as const satisfies TaskQueue[];
const TENANTS = [TENANT, 'b', 'c'];
const LIMITED: TaskQueue = 'webhooks';

const test = await useLedger({ limits: { maxConcurrent: 1000, criticalShare: 0 } });

const shares = { high: 40, normal: 35, low: 15 };
/** A worker of all queues, one with other shares and people, one without chats, and one of two queues. */
const POLICIES: readonly SlotPolicy[] = [
  {
    slots: 12,
    reserved: 2,
    people: 2,
    weights: new Map([
      ['critical', 2],
      ['chat', 4],
      ['webhooks', 2],
      ['tasks', 2],
      ['background', 1],
    ]),
    shares,
    lowAgeMs: HOUR_MS,
  },
  {
    slots: 5,
    reserved: 1,
    people: 0,
    weights: new Map([
      ['critical', 1],
      ['tasks', 3],
      ['background', 1],
    ]),
    shares,
    lowAgeMs: HOUR_MS,
  },
  {
    slots: 3,
    reserved: 0,
    people: 1,
    weights: new Map([
      ['chat', 1],
      ['tasks', 1],
    ]),
    shares: { high: 10, normal: 10, low: 80 },
    lowAgeMs: HOUR_MS,
  },
];

type Step =
  | { kind: 'accept'; queue: TaskQueue; tenant: string; priority: number; slow: boolean; early: boolean; awaited: boolean; count: number }
  | { kind: 'claim'; worker: number; count: number }
  | { kind: 'end'; worker: number; picks: number[]; again: boolean }
  | { kind: 'pause'; queue: TaskQueue }
  | { kind: 'cancel'; pick: number };

const step: Arbitrary<Step> = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constant('accept' as const),
      queue: constantFrom(...QUEUES),
      tenant: constantFrom(...TENANTS),
      priority: integer({ min: 1, max: 10 }),
      slow: boolean(),
      early: boolean(),
      awaited: boolean(),
      count: integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 4, arbitrary: record({ kind: constant('claim' as const), worker: nat(2), count: integer({ min: 1, max: 12 }) }) },
  // Attempts that end together: their slots claim in one call.
  {
    weight: 5,
    arbitrary: record({
      kind: constant('end' as const),
      worker: nat(2),
      picks: array(nat(20), { minLength: 1, maxLength: 6 }),
      again: boolean(),
    }),
  },
  { weight: 1, arbitrary: record({ kind: constant('pause' as const), queue: constantFrom(...QUEUES) }) },
  { weight: 1, arbitrary: record({ kind: constant('cancel' as const), pick: nat(50) }) },
);

class Worker {
  readonly name: string;
  readonly policy: SlotPolicy;
  readonly slots: RunningSlots;
  readonly running: { held: Held; task: Standing; release: () => void }[] = [];

  constructor(name: string, policy: SlotPolicy) {
    this.name = name;
    this.policy = policy;
    this.slots = new RunningSlots(policy, policy.weights.has(LIMITED) ? { [LIMITED]: { max: 6, duration: HOUR_MS } } : {});
  }
}

class Fleet {
  readonly model = new SchedulerModel();
  readonly workers = POLICIES.map((policy, at) => new Worker(`w${at}`, policy));

  constructor() {
    this.model.startsLeft.set(LIMITED, 6);
  }

  async do(each: Step): Promise<void> {
    if (each.kind === 'accept') await this.#accept(each);
    else if (each.kind === 'claim') await this.#claim(each.worker, each.count);
    else if (each.kind === 'end') await this.#end(each);
    else if (each.kind === 'pause') await this.#pause(each.queue);
    else await this.#cancel(each.pick);
  }

  async #accept({ queue, tenant, priority, slow, early, awaited, count }: Extract<Step, { kind: 'accept' }>): Promise<void> {
    const agent = slow ? 'slow' : 'echo';
    for (let n = 0; n < count; n += 1) {
      const awaitedBy = awaited ? `k${n % 2}` : undefined;
      const wish = { queue, tenant, priority, agent, awaitedBy, ...(early ? { sla: Date.now() + HOUR_MS, slaLeadMs: 24 * HOUR_MS } : {}) };
      const id = await test.accepted(wish);
      const { state } = await test.taskOf(tenant, id);
      const from = Math.min(state.ranksFrom ?? state.createdAt, state.createdAt);
      this.model.stand({ id, tenant, queue, priority, agent, from, acceptedAt: state.createdAt, costMs: slow ? 9000 : 1000, awaitedBy });
    }
  }

  async #claim(at: number, count: number): Promise<void> {
    const worker = this.workers[at];
    if (!worker) return;
    const expected = this.model.start(worker.slots.pool(0, ''), count, Date.now());
    const { tickets } = await claimForSlots(test.ledger, {
      shard: 0,
      worker: worker.name,
      queues: [...worker.policy.weights.keys()].map((queue) => ({ queue, pauses: pauseKey(queue) })),
      count,
      left: 0,
      pool: worker.slots.pool(0, ''),
      drawn: [],
      ended: [],
    });
    // oxlint-disable-next-line vitest/no-standalone-expect -- It is a step of the test's scenarios.
    expect(tickets.map(({ ticket }) => ticket.task)).toEqual(expected.map(({ id }) => id));
    for (const [position, { ticket, claimed }] of tickets.entries()) {
      const task = expected[position];
      if (!claimed || !task) throw new Error(`The task ${ticket.task} did not start`);
      const { tenant, task: id, lane } = ticket;
      const held = { tenant, id, lane, token: claimed.state.token, state: claimed.state };
      worker.running.push({ held, task, release: worker.slots.use(task, Date.now()) });
    }
  }

  async #end({ worker: at, picks, again }: Extract<Step, { kind: 'end' }>): Promise<void> {
    const worker = this.workers[at];
    if (!worker || worker.running.length === 0) return;
    const ending = new Set(picks.map((pick) => worker.running[pick % worker.running.length]));
    for (const each of ending) {
      if (!each) continue;
      worker.running.splice(worker.running.indexOf(each), 1);
      each.release();
      await settleAttempt(test.ledger, each.held, again ? { kind: 'interrupted', reason: 'drain', delayMs: 0 } : DONE);
      if (again) this.model.stand(each.task);
    }
    await this.#claim(at, ending.size);
  }

  async #pause(queue: TaskQueue): Promise<void> {
    if (this.model.paused.delete(queue)) {
      await test.redis.hdel(pauseKey(queue), 'paused');
      return;
    }
    this.model.paused.add(queue);
    await test.redis.hset(pauseKey(queue), 'paused', '1');
  }

  async #cancel(pick: number): Promise<void> {
    const task = this.model.standing[pick % Math.max(1, this.model.standing.length)];
    if (!task) return;
    await test.cancelled(task.tenant, task.id);
    this.model.leave(task.id);
  }
}

function pauseKey(queue: TaskQueue): string {
  return `${test.keys.shard(0).queues}:${queue}:meta`;
}

async function play(steps: Step[]): Promise<void> {
  await test.reset();
  test.costs.set('slow', 9000);
  const fleet = new Fleet();
  for (const each of steps) await fleet.do(each);
}

describe('the next tasks of free slots', () => {
  it(
    `are those that the plain scheduler starts, after any steps (seed ${SEED})`,
    async () => {
      const scenario = array(step, { minLength: 5, maxLength: 60 });
      await expect(playScenarios(scenario, play, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
    },
    BUDGET_MS * 15,
  );
});
