import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeHttpEndpoint, startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const COST = 10_000;
const LINE = 300_000;
const TASKS = 45;
const SLOTS = 4;
const WORKERS = 2;
const KILLED = 2;
const ALL_SLOTS = { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` };

/** $0.50 of model calls, in 50 slots. */
const CALLS = { cost: 2000, line: 500_000, tasks: 320, slots: 25, kills: 2 };
/** Tokens that a model call costs, a millionth of a dollar each: its bound, and what the gateway estimates for an input so long. */
const INPUT_BYTES = 300;
const INPUT = 98;
const BOUND = CALLS.cost - INPUT;
const ANSWER_MS = 40;
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

async function put(hardMicroUsd: number): Promise<Budget> {
  const body = { scope: 'agent', of: 'paid', per: 'total', hardMicroUsd, atHard: 'pause' };
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

/** Streams answers that cost all that was reserved for them, and holds their ends back while it is told to. */
class DearProvider {
  isHolding = false;
  /** Ends of answers that are under way. */
  readonly ends = new Set<() => void>();

  readonly respond = (response: ServerResponse): void => {
    const usage = { prompt_tokens: INPUT, completion_tokens: BOUND, total_tokens: CALLS.cost };
    const end = (): void => void response.end(`${chunk({}, { usage })}data: [DONE]\n\n`);
    this.ends.add(end);
    response.on('close', () => this.ends.delete(end));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: 'Good ' }));
    setTimeout(() => this.isHolding || end(), ANSWER_MS);
  };

  release(): void {
    this.isHolding = false;
    for (const end of this.ends) end();
  }
}

/** The inputs of the calls that a provider got, in their order. */
function inputsOf({ requests }: FakeHttpEndpoint): number[] {
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

  it('is not passed by model calls, which count once, reserve nothing at the end, and go on in order when it is raised', async () => {
    const dear = new DearProvider();
    const provider = await startFakeHttpEndpoint(dear.respond);
    const { requests } = provider;
    try {
      await fleet.client.call('PUT', '/v1/agents/paid', { body: { kind: 'openai', model: 'dear', baseUrl: provider.url, apiKey: 'sk' } });
      await put(CALLS.line);
      // Until all tasks are there.
      dear.isHolding = true;
      const workers = await Promise.all([fleet.start('worker', CALL_SLOTS), fleet.start('worker', CALL_SLOTS)]);
      const ids: string[] = [];
      for (let number = 0; number < CALLS.tasks; number += 1) {
        const input = `number ${number} `.padEnd(INPUT_BYTES, 'x');
        ids.push(await fleet.client.submit({ agent: 'paid', input, execution: { maxAttempts: 3 } }));
      }
      for (let kill = 1; kill <= CALLS.kills; kill += 1) {
        dear.isHolding = true;
        await waitFor(() => dear.ends.size === 2 * CALLS.slots, { deadlineMs: 60_000, what: 'a call in every slot' });
        await workers.shift()?.kill('SIGKILL');
        workers.push(await fleet.start('worker', CALL_SLOTS));
        const before = requests.length;
        dear.release();
        await waitFor(() => requests.length >= before + CALLS.slots, { deadlineMs: 60_000, what: 'more calls' });
      }
      const isUsedUp = async (): Promise<boolean> => {
        const { spentMicroUsd, reservedMicroUsd, held } = await read();
        // On a busy machine a call may be stopped, and cost less than it reserved.
        if (spentMicroUsd + CALLS.cost <= CALLS.line || reservedMicroUsd > 0) return false;
        return held > 0 && held + (await countCompleted()) === CALLS.tasks;
      };
      await waitFor(isUsedUp, { deadlineMs: 90_000, everyMs: 100, what: 'the line, nothing reserved, and all others held' });
      const { spentMicroUsd: spent, held } = await read();
      const completed = await countCompleted();
      const lost = requests.length - completed;
      // Not a single call over: what a call may cost at most is reserved before it goes.
      expect(spent).toBeLessThanOrEqual(CALLS.line);
      expect(lost).toBeGreaterThanOrEqual(CALLS.kills * CALLS.slots);
      await put(10 * CALLS.line);
      const tasks = await fleet.client.ended(ids, 90_000);
      expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
      // Those that a process was lost under run isolated, and in their own time.
      const called = inputsOf(provider);
      const before = new Set(called.slice(0, -held));
      const after = called.slice(-held).filter((number) => !before.has(number));
      const inOrder = after.toSorted((one, other) => one - other);
      const displaced = after.map((number, at) => Math.abs(at - inOrder.indexOf(number)));
      expect(after.length).toBeGreaterThanOrEqual(CALLS.tasks - CALLS.line / CALLS.cost - lost);
      expect(Math.max(...displaced)).toBeLessThan(2 * CALLS.slots);
      const end = await read();
      expect(end).toMatchObject({ reservedMicroUsd: 0, held: 0 });
      expect(end.spentMicroUsd).toBeGreaterThanOrEqual(CALLS.tasks * CALLS.cost);
      expect(end.spentMicroUsd).toBeLessThanOrEqual(requests.length * CALLS.cost);
      const { body: used } = await fleet.client.call('GET', '/v1/usage?groupBy=agent');
      const [{ costMicroUsd } = { costMicroUsd: 0 }] = (used as unknown as { items: { costMicroUsd: number }[] }).items;
      expect(costMicroUsd).toBeGreaterThanOrEqual(CALLS.tasks * CALLS.cost);
      expect(costMicroUsd).toBeLessThanOrEqual(requests.length * CALLS.cost);
      reportFigure(
        `$0.50 under ${2 * CALLS.slots} slots, ${CALLS.tasks} tasks, ${CALLS.kills} workers killed`,
        `$${(spent / 1e6).toFixed(3)} spent at the line by ${completed} tasks, ${lost} calls lost with their workers`,
      );
    } finally {
      await provider.close();
    }
  }, 300_000);
});
