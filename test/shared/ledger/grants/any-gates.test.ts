import { array, constant, constantFrom, integer, nat, oneof, option, record, type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask, changePriority } from '#shared/ledger/change-task.ts';
import { applyLimits } from '#shared/ledger/grants/apply-limits.ts';
import { releaseHeld } from '#shared/ledger/grants/release-held.ts';
import { type GatedTask, type GateLimits, GatesModel } from '../support/gates-model.ts';
import { playScenarios } from '../support/play-scenarios.ts';
import { aTask, DONE, limitsOf, retry, TENANT } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const SEED = Date.now() % 2_147_483_647;
const BUDGET_MS = 4000;
/** Lanes are not kept by themselves: `age` says when. */
const test = await useLedger({ lanes: { reserveAfterMs: 3_600_000 } });

const LANES = ['agent:gpu', 'agent:disk', 'agent:desk'];
const HOLD = { gate: 'budget', what: 'b' } as const;
const LATER_MS = 3_600_000;

type Figures = { gpu: number; disk: number; desk: number; running: number | null; low: number | null; webhook: number | null };
type Action =
  | { kind: 'accept'; lanes: number; priority: number; letter: string }
  | { kind: 'end'; pick: number; how: 'done' | 'retry' | 'hold' | 'lost' }
  | { kind: 'reprioritize'; pick: number; priority: number }
  | { kind: 'cancel'; pick: number }
  | { kind: 'due'; pick: number }
  | { kind: 'release' }
  | { kind: 'age' }
  | { kind: 'limit'; figures: Figures };

const pick = nat(50);
const priority = constantFrom(1, 5, 8, 10);
const limit = integer({ min: 1, max: 3 });
const figures = record({
  gpu: limit,
  disk: limit,
  desk: limit,
  running: option(integer({ min: 1, max: 5 })),
  low: option(integer({ min: 1, max: 2 })),
  webhook: option(integer({ min: 1, max: 2 })),
});
const action: Arbitrary<Action> = oneof(
  { weight: 10, arbitrary: record({ kind: constant('accept' as const), lanes: nat(7), priority, letter: constantFrom('u', 'w') }) },
  {
    weight: 8,
    arbitrary: record({ kind: constant('end' as const), pick, how: constantFrom('done', 'done', 'retry', 'hold', 'lost') }),
  },
  { weight: 2, arbitrary: record({ kind: constant('reprioritize' as const), pick, priority }) },
  { weight: 3, arbitrary: record({ kind: constantFrom('cancel' as const, 'due' as const), pick }) },
  { weight: 3, arbitrary: constantFrom<Action[]>({ kind: 'release' }, { kind: 'age' }) },
  { weight: 1, arbitrary: record({ kind: constant('limit' as const), figures }) },
);
const scenario = record({ figures, steps: array(action, { minLength: 5, maxLength: 80 }) });

/** How the lookups list it. */
function standingOf({ id, at, passedAt }: GatedTask): string[] {
  const line = { away: null, granted: 'granted', cap: 'backlog', lane: at.kind === 'lane' ? `waits=${at.name}` : null }[at.kind];
  return [...(line === null ? [] : [`${id} ${line}`]), ...(passedAt === null ? [] : [`${id} passed`])];
}

/** Plays each action on the ledger and on the model. */
class Play {
  readonly model: GatesModel;
  readonly #waiting = new Set<string>();

  constructor(first: Figures) {
    this.model = new GatesModel(this.#apply(first));
  }

  #apply({ gpu, disk, desk, running, low, webhook }: Figures): GateLimits {
    const byLetter = webhook === null ? {} : { w: webhook };
    test.limits = limitsOf({
      runningByAgent: { gpu, disk, desk },
      running,
      runningLow: low,
      runningByClass: webhook === null ? {} : { webhook },
    });
    return { lanes: { 'agent:gpu': gpu, 'agent:disk': disk, 'agent:desk': desk }, running, low, byLetter };
  }

  async do(each: Action): Promise<void> {
    this.model.now += 1;
    if (each.kind === 'accept') await this.#accept(each);
    else if (each.kind === 'end') await this.#end(each);
    else if (each.kind === 'reprioritize') await this.#reprioritize(each);
    else if (each.kind === 'cancel' || each.kind === 'due') await this.#move(each);
    else if (each.kind === 'release') await this.#release();
    else if (each.kind === 'age') await this.#age();
    else await this.#limit(each.figures);
    this.model.step();
  }

  async #accept({ lanes, priority: wished, letter }: Extract<Action, { kind: 'accept' }>): Promise<void> {
    const names = LANES.filter((_, at) => (lanes >> at) % 2 === 1);
    const answer = await acceptNewTask(
      test.ledger,
      aTask({
        priority: wished,
        queue: wished === 10 ? 'critical' : 'tasks',
        class: `${letter}${wished === 1 ? 0 : 1}`,
        sharedLanes: names.map((name) => ({ name, limit: 1 })),
      }),
    );
    if (answer.kind !== 'accepted') throw new Error(answer.kind);
    await this.#arrive(answer.id);
  }

  async #arrive(id: string): Promise<void> {
    const { createdAt, priority: own, queue, class: taskClass, sharedLanes = [] } = await test.state(id);
    const lanes = sharedLanes.map(({ name }) => name);
    const shape = { id, createdAt, priority: own, isCritical: queue === 'critical', class: taskClass, lanes };
    this.model.arrive({ ...shape, at: { kind: 'away' }, passedAt: null });
  }

  async #end({ pick: at, how }: Extract<Action, { kind: 'end' }>): Promise<void> {
    const { granted } = this.model;
    const id = granted[at % Math.max(1, granted.length)];
    if (id === undefined) return;
    const held = await test.claimed(id);
    const hold = { kind: 'interrupted', reason: 'no money', delayMs: null, hold: HOLD } as const;
    const lost = { kind: 'interrupted', reason: 'lost', delayMs: 0 } as const;
    const later = held.state.spent >= held.state.maxAttempts ? ({ ...DONE } as const) : retry(LATER_MS);
    await test.settle(held, { done: DONE, retry: later, hold, lost }[how]);
    if (how !== 'lost') this.model.leave(id);
    if (how === 'hold' || (how === 'retry' && later !== undefined && later.kind === 'failed')) this.#waiting.add(id);
  }

  async #reprioritize({ pick: at, priority: wished }: Extract<Action, { kind: 'reprioritize' }>): Promise<void> {
    const task = [...this.model.tasks.values()].filter((each) => each.at.kind !== 'away')[at];
    if (!task) return;
    const change = {
      priority: wished,
      queue: wished === 10 ? 'critical' : 'tasks',
      class: `${task.class.charAt(0)}${wished === 1 ? 0 : 1}`,
    } as const;
    await changePriority(test.ledger, TENANT, task.id, change);
    this.model.change(task.id, { priority: wished, isCritical: wished === 10, class: change.class });
  }

  async #move({ kind, pick: at }: Extract<Action, { kind: 'cancel' | 'due' }>): Promise<void> {
    const ids = kind === 'due' ? [...this.#waiting] : [...this.model.tasks.keys()];
    const id = ids[at % Math.max(1, ids.length)];
    if (id === undefined) return;
    if (kind === 'cancel') {
      await cancelTask(test.ledger, { tenant: TENANT, id, lane: null }, 'no more');
      this.model.leave(id);
      this.#waiting.delete(id);
    } else if ((await test.state(id)).notBefore !== undefined) {
      await test.makeDue(id);
      this.#waiting.delete(id);
      await this.#arrive(id);
    }
  }

  async #release(): Promise<void> {
    const [id] = await releaseHeld(test.ledger, TENANT, HOLD, 1);
    if (id === undefined) return;
    this.#waiting.delete(id);
    await this.#arrive(id);
  }

  async #limit(next: Figures): Promise<void> {
    this.model.limits = this.#apply(next);
    this.model.openAll();
    await applyLimits(test.ledger, TENANT);
  }

  /** Makes it long ago that others could pass those that wait, in their order, and lets a step see that. */
  async #age(): Promise<void> {
    for (const [at, task] of this.model.ageAll().entries()) await test.setPassed(task.id, at + 1);
    await applyLimits(test.ledger, TENANT);
  }

  /** What differs from the model, in words. */
  async problems(): Promise<string[]> {
    const lookups = await test.redis.zrange(test.keys.tenant(TENANT).live, '0', '-1');
    const found = lookups.flatMap((member) => {
      const line = /^(?:waits=[^/]+|backlog|granted|passed)(?=[/=])/.exec(member)?.[0];
      return line === undefined ? [] : [`${member.slice(member.lastIndexOf('/') + 1)} ${line}`];
    });
    const wanted = [...this.model.tasks.values()].flatMap((task) => standingOf(task));
    return [
      ...found.filter((each) => !wanted.includes(each)).map((each) => `${each} is there and should not be`),
      ...wanted.filter((each) => !found.includes(each)).map((each) => `${each} is missing`),
      ...this.model.idle().map((id) => `${id} waits, and none of its gates is closed`),
    ];
  }
}

/** Ends beside each other would make the order of the steps unknown; they come together in any-order. */
async function play({ figures: first, steps }: { figures: Figures; steps: Action[] }): Promise<void> {
  await test.reset();
  const run = new Play(first);
  const doNext = async (step: Action): Promise<void> => {
    await run.do(step);
    expect(await run.problems(), `after ${JSON.stringify(step)}`).toEqual([]);
  };
  for (const step of steps) await doNext(step);
  // Everything ends, one after the other, whoever else waits: nobody waits for good.
  await doNext({ kind: 'limit', figures: { gpu: 1, disk: 1, desk: 1, running: 2, low: 1, webhook: 1 } });
  for (let left = run.model.tasks.size; left > 0 && run.model.granted.length > 0; left -= 1)
    await doNext({ kind: 'end', pick: 0, how: 'done' });
  expect([...run.model.tasks.values()].filter(({ at }) => at.kind !== 'away')).toEqual([]);
}

it(
  `grants in each step what the specification of gates grants, and has all others stand where it says (seed ${SEED})`,
  async () => {
    await expect(playScenarios(scenario, play, { seed: SEED, budgetMs: BUDGET_MS })).resolves.toBeUndefined();
  },
  BUDGET_MS * 15,
);
