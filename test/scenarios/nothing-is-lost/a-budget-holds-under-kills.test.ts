import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFakeHttpEndpoint } from '../../support/fake-http-endpoint.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const COST = 10_000;
const LINE = 300_000;
const TASKS = 45;
const SLOTS = 4;
const WORKERS = 2;
const KILLED = 2;

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({ settings: { outbound: { allowNetworks: ['127.0.0.0/8'] } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

interface Budget {
  spentMicroUsd: number;
  held: number;
}

async function put(hardMicroUsd: number): Promise<Budget> {
  const body = { scope: 'agent', of: 'paid', per: 'total', hardMicroUsd, atHard: 'pause' };
  return (await fleet.client.call('PUT', '/v1/budgets/paid', { body })).body as Budget;
}
const read = async (): Promise<Budget> => (await fleet.client.call('GET', '/v1/budgets/paid')).body as Budget;

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
      const slots = { MUSTER_QUEUES: `tasks=${SLOTS},maintenance=1` };
      const doomed = await Promise.all(Array.from({ length: KILLED }, () => fleet.start('worker', slots)));
      const ids = await Promise.all(
        Array.from({ length: TASKS }, () => fleet.client.submit({ agent: 'paid', execution: { maxAttempts: 3 } })),
      );
      for (const [position, worker] of doomed.entries()) {
        await waitFor(() => served >= 6 * (position + 1), { deadlineMs: 20_000, what: 'calls to kill' });
        await worker.kill('SIGKILL');
      }
      for (let count = 0; count < WORKERS; count += 1) await fleet.start('worker', slots);
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
});
