import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { type Repetition, repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const COST = 10_000;
const LINE = 300_000;
const TASKS = 45;
const SLOTS = 4;
const WORKERS = 2;
const KILLED = 2;
const ALL_SLOTS = { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` };

/** Model calls of a budget, in 50 slots, while a worker is killed and replaced again and again. */
const SMALL = { line: 200_000, tasks: 150, answerMs: 500, killEveryMs: 1500, endMs: 120_000 };
const { chaosMinutes } = testEnvironment;
const FULL = { line: 500_000, tasks: 320 + chaosMinutes * 300, answerMs: 1500, killEveryMs: 4000, endMs: 300_000 + chaosMinutes * 120_000 };
const CALLS = { cost: 2000, slots: 25, ...(testEnvironment.isChaos ? FULL : SMALL) };
/** Tokens that a model call costs, a millionth of a dollar each: its bound, and what the gateway estimates for an input so long. */
const INPUT_BYTES = 300;
const INPUT = 98;
const BOUND = CALLS.cost - INPUT;
const CALL_SLOTS = { MUSTER_QUEUES: `tasks=${CALLS.slots},maintenance=1` };

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({
    settings: {
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      worker: { leaseMs: 5000 },
      models: { dear: { inputUsdPerMTok: 1, outputUsdPerMTok: 1, maxOutputTokens: BOUND } },
    },
  });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

interface Budget {
  spentMicroUsd: number;
  reservedMicroUsd: number;
  held: number;
}

async function put(hardMicroUsd: number, atHard: 'pause' | 'deny' = 'pause'): Promise<Budget> {
  const body = { scope: 'agent', of: 'paid', per: 'total', hardMicroUsd, atHard };
  return (await fleet.client.call('PUT', '/v1/budgets/paid', { body })).body as Budget;
}
const read = async (): Promise<Budget> => (await fleet.client.call('GET', '/v1/budgets/paid')).body as Budget;

async function countCompleted(): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, ''];
  while (cursor !== null) {
    const { body } = await fleet.client.call('GET', `/v1/tasks?status=completed&limit=200${cursor && `&cursor=${cursor}`}`);
    count += (body as { items: unknown[] }).items.length;
    cursor = (body as { nextCursor: string | null }).nextCursor;
  }
  return count;
}

function chunk(delta: object, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: 'usage' in more ? 'stop' : null }];
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'dear', choices, ...more })}\n\n`;
}

/** The most tokens that the call which a provider got last may be answered with: less where little money is left. */
function boundOf({ requests }: FakeHttpEndpoint): number {
  return (JSON.parse(requests.at(-1)?.body ?? '{}') as { max_tokens?: number }).max_tokens ?? BOUND;
}

/** Streams answers that cost all that was reserved for them, unless they are shorter, and counts what it is owed. */
class DearProvider {
  readonly #tokens: number;
  readonly #answerMs: number;
  readonly #held: Promise<void>;
  /** Answers that came to their end, and those whose callers were gone before it. */
  readonly calls = { answered: 0, cut: 0 };
  /** Tokens that its answers lack because their calls had a lower bound. */
  shortened = 0;
  /** Answers under way now, and at most. */
  open = 0;
  maxOpen = 0;

  /** `held`: no answer ends before this is resolved. */
  constructor(tokens = BOUND, answerMs = CALLS.answerMs, held = Promise.resolve()) {
    this.#tokens = tokens;
    this.#answerMs = answerMs;
    this.#held = held;
  }

  readonly respond = (response: ServerResponse, bound: number): void => {
    const tokens = Math.min(this.#tokens, bound);
    const usage = { prompt_tokens: INPUT, completion_tokens: tokens, total_tokens: INPUT + tokens };
    this.shortened += this.#tokens - tokens;
    this.open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.open);
    response.on('close', () => {
      this.open -= 1;
      this.calls[response.writableFinished ? 'answered' : 'cut'] += 1;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: 'Good ' }));
    const end = (): unknown => response.end(`${chunk({}, { usage })}data: [DONE]\n\n`);
    void Promise.all([delay(this.#answerMs), this.#held]).then(end);
  };
}

/** Workers of which the oldest is killed and replaced every few seconds, until it is stopped. */
class DyingWorkers {
  readonly all: ServiceProcess[] = [];
  readonly #live: ServiceProcess[] = [];
  readonly #killing: Repetition;
  kills = 0;

  constructor() {
    this.#killing = repeatUntilStopped(async () => {
      if (this.#live.length >= WORKERS) {
        await this.#live.shift()?.kill('SIGKILL');
        this.kills += 1;
      }
      while (this.#live.length < WORKERS) {
        const started = await fleet.start('worker', CALL_SLOTS);
        this.#live.push(started);
        this.all.push(started);
      }
    }, CALLS.killEveryMs);
  }

  stop(): Promise<void> {
    return this.#killing.stop();
  }

  /** Tasks that were lost with a worker. */
  lost(): Set<string> {
    return new Set(this.all.flatMap(({ lines }) => lines.flatMap(({ event, task }) => (event === 'task.orphaned' ? [`${task}`] : []))));
  }
}

/** The inputs of the calls that a provider got, in their order. */
function inputsOf(requests: FakeHttpEndpoint['requests']): number[] {
  return requests.map(({ body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    return Number(/^number (\d+)/.exec(messages.at(-1)?.content ?? '')?.[1]);
  });
}

describe('a budget while workers are killed', () => {
  it('is passed by no more than what went on, loses no task, and counts each attempt once', async () => {
    let served = 0;
    const provider = await startFakeHttpEndpoint((response) => {
      served += 1;
      const usage = { inputTokens: 1, outputTokens: 1, costMicroUsd: COST };
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ output: 'x', usage })), 40);
    });
    try {
      await fleet.client.call('PUT', '/v1/agents/paid', { body: { kind: 'http', url: provider.url } });
      await put(LINE);
      const doomed = await Promise.all(Array.from({ length: KILLED }, () => fleet.start('worker', ALL_SLOTS)));
      const ids = await Promise.all(
        Array.from({ length: TASKS }, () => fleet.client.submit({ agent: 'paid', execution: { maxAttempts: 3 } })),
      );
      for (const [position, worker] of doomed.entries()) {
        await waitFor(() => served >= 6 * (position + 1), { deadlineMs: 20_000, what: 'calls to kill' });
        await worker.kill('SIGKILL');
      }
      for (let count = 0; count < WORKERS; count += 1) await fleet.start('worker', ALL_SLOTS);
      const open = async (): Promise<boolean> => {
        const counted = await read();
        return counted.spentMicroUsd >= LINE && counted.held > 0 && counted.held >= TASKS - counted.spentMicroUsd / COST;
      };
      await waitFor(open, { deadlineMs: 40_000, what: 'the line, and all others held' });
      const maxRunning = (WORKERS + KILLED) * SLOTS;
      expect(served * COST).toBeLessThanOrEqual(LINE + maxRunning * COST);
      await put(10 * LINE);
      const tasks = await fleet.client.ended(ids, 40_000);
      expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
      const { spentMicroUsd, held } = await read();
      expect(held).toBe(0);
      expect(spentMicroUsd).toBeGreaterThanOrEqual(TASKS * COST);
      expect(spentMicroUsd).toBeLessThanOrEqual(served * COST);
      reportFigure(`${TASKS} tasks, ${KILLED} workers killed: spent ${spentMicroUsd / COST}, served`, `${served}`);
    } finally {
      await provider.close();
    }
  }, 120_000);

  it(
    'is not passed by model calls, which count once, reserve nothing at the end, and go on in order when it is raised',
    async () => {
      const dear = new DearProvider();
      const provider: FakeHttpEndpoint = await startFakeHttpEndpoint((response) => dear.respond(response, boundOf(provider)));
      const { requests } = provider;
      await fleet.client.call('PUT', '/v1/agents/paid', { body: { kind: 'openai', model: 'dear', baseUrl: provider.url, apiKey: 'sk' } });
      await put(CALLS.line);
      const ids: string[] = [];
      for (let number = 0; number < CALLS.tasks; number += 1) {
        const input = `number ${number} `.padEnd(INPUT_BYTES, 'x');
        ids.push(await fleet.client.submit({ agent: 'paid', input, execution: { maxAttempts: 3 } }));
      }
      const workers = new DyingWorkers();
      try {
        const isUsedUp = async (): Promise<boolean> => {
          const { spentMicroUsd, reservedMicroUsd, held } = await read();
          // On a busy machine a call may be stopped, and cost less than it reserved.
          if (spentMicroUsd + CALLS.cost <= CALLS.line || reservedMicroUsd > 0) return false;
          return held > 0 && held + (await countCompleted()) === CALLS.tasks;
        };
        await waitFor(isUsedUp, { deadlineMs: CALLS.endMs, everyMs: 100, what: 'the line, nothing reserved, and all others held' });
        const { spentMicroUsd: spent } = await read();
        const atLine = { ...dear.calls, completed: await countCompleted(), kills: workers.kills, requests: requests.length };
        // Not a single call over: what a call may cost at most is reserved before it goes.
        expect(spent).toBeLessThanOrEqual(CALLS.line);
        // Answers that were not counted were lost with their workers, at most one for each of their slots.
        expect(atLine.answered * CALLS.cost - spent).toBeLessThanOrEqual(atLine.kills * CALLS.slots * CALLS.cost);
        await put(100 * CALLS.line);
        const tasks = await fleet.client.ended(ids, CALLS.endMs);
        await workers.stop();
        expect(tasks.filter(({ status, attempt }) => status !== 'completed' || attempt !== 1)).toEqual([]);
        expect(dear.maxOpen).toBeLessThanOrEqual(WORKERS * CALLS.slots);
        // Those that a process was lost under run isolated, and in their own time.
        const lost = workers.lost();
        const before = new Set(inputsOf(requests.slice(0, atLine.requests)));
        const after = [...new Set(inputsOf(requests.slice(atLine.requests)))].filter(
          (number) => !before.has(number) && !lost.has(ids[number] ?? ''),
        );
        const inOrder = after.toSorted((one, other) => one - other);
        const displaced = after.map((number, at) => Math.abs(at - inOrder.indexOf(number)));
        expect(after.length).toBeGreaterThan(0);
        expect(Math.max(...displaced)).toBeLessThan(WORKERS * CALLS.slots);
        const end = await read();
        expect(end).toMatchObject({ reservedMicroUsd: 0, held: 0 });
        const least = CALLS.tasks * CALLS.cost - dear.shortened;
        expect(end.spentMicroUsd).toBeGreaterThanOrEqual(least);
        expect(end.spentMicroUsd).toBeLessThanOrEqual(requests.length * CALLS.cost);
        const { body: used } = await fleet.client.call('GET', '/v1/usage?groupBy=agent');
        const [{ costMicroUsd } = { costMicroUsd: 0 }] = (used as unknown as { items: { costMicroUsd: number }[] }).items;
        expect(costMicroUsd).toBeGreaterThanOrEqual(least);
        expect(costMicroUsd).toBeLessThanOrEqual(requests.length * CALLS.cost);
        reportFigure(
          `${dollars(CALLS.line)} under ${WORKERS * CALLS.slots} slots, ${CALLS.tasks} tasks, a worker killed every ${CALLS.killEveryMs} ms`,
          `at the line after ${atLine.kills} kills: ${dollars(spent)} counted, ${dollars(atLine.answered * CALLS.cost)} answered, ` +
            `${atLine.cut} calls cut; at the end after ${workers.kills} kills: ${dollars(end.spentMicroUsd)} counted, ` +
            `${dollars(dear.calls.answered * CALLS.cost)} answered, ${dear.calls.cut} calls cut, ${lost.size} tasks lost with a worker, ` +
            `${Math.max(...displaced)} places out of order at most`,
        );
      } finally {
        await workers.stop();
        await provider.close();
      }
    },
    2 * CALLS.endMs + 60_000,
  );
});

it('a budget that denies holds tasks only while calls go on whose reservations may come back', async () => {
  // Calls cost half of what they reserve, so that there is room again when they end: twice for some of those that are held.
  const counted = Promise.withResolvers<void>();
  const dear = new DearProvider(CALLS.cost / 2 - INPUT, 1000, counted.promise);
  const provider: FakeHttpEndpoint = await startFakeHttpEndpoint((response) => dear.respond(response, boundOf(provider)));
  const calls = 10;
  try {
    await fleet.client.call('PUT', '/v1/agents/paid', { body: { kind: 'openai', model: 'dear', baseUrl: provider.url, apiKey: 'sk' } });
    await put(calls * CALLS.cost, 'deny');
    await fleet.start('worker', CALL_SLOTS);
    const input = 'number 1 '.padEnd(INPUT_BYTES, 'x');
    const ids = await Promise.all(Array.from({ length: 60 }, () => fleet.client.submit({ agent: 'paid', input })));
    const asked = await askHeld(ids).finally(counted.resolve);
    const tasks = await fleet.client.ended(ids, 60_000);
    const denied = tasks.filter(({ error }) => error?.code === 'BUDGET_EXCEEDED').map(({ status }) => status);
    const completed = tasks.filter(({ status }) => status === 'completed').length;
    expect(denied).toEqual(Array.from({ length: 60 - completed }, () => 'permanently_failed'));
    expect(completed).toBeGreaterThan(calls);
    expect(await read()).toMatchObject({ held: 0, reservedMicroUsd: 0, spentMicroUsd: (completed * CALLS.cost) / 2 });
    expect((completed * CALLS.cost) / 2).toBeLessThanOrEqual(calls * CALLS.cost);
    reportFigure('a budget of 10 full calls that denies', `${completed} of 60 completed, ${asked.held} held while the first ten ran`);
  } finally {
    await provider.close();
  }
}, 120_000);

/** What a held task, the budget, the queues and now say of one moment. */
async function askHeld(ids: readonly string[]): Promise<{ held: number }> {
  return await waitFor(
    async () => {
      const { held } = await read();
      if (held === 0) return null;
      const whys = await Promise.all(ids.map((id) => fleet.client.call('GET', `/v1/tasks/${id}/why`)));
      const reasons = whys.flatMap(({ body }) => body.reasons as { gate: string; detail: string }[]);
      const { items } = (await fleet.client.call('GET', '/v1/queues')).body as { items: { name: string; held: number; waiting: number }[] };
      const { waiting } = (await fleet.client.call('GET', '/v1/now')).body as { waiting: { gate: string; kind: string; count: number }[] };
      const atBudget = reasons.filter(({ gate }) => gate === 'budget');
      const queue = items.find(({ name }) => name === 'tasks');
      const now = waiting.filter(({ kind }) => kind === 'held').reduce((sum, { count }) => sum + count, 0);
      // Figures of loads are a second old: all agree once nothing moves while they are read.
      if (new Set([held, atBudget.length, queue?.held, now]).size > 1) return null;
      expect(atBudget.map(({ detail }) => detail)).toEqual(atBudget.map(() => expect.stringContaining('$0.02')));
      return { held };
    },
    { deadlineMs: 20_000, everyMs: 100, what: 'one count of what the budget holds' },
  );
}

function dollars(microUsd: number): string {
  return `$${(microUsd / 1e6).toFixed(3)}`;
}
