import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/fleet-agent.ts'));
const WORK = { workMs: [120] };
const RUNS = 8;
/** Of the cases that depend on how steps meet; all of them by `npm run chaos`. */
const ROUNDS = testEnvironment.isChaos ? 20 : 3;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet({
    settings: {
      agents: { gpu: { kind: 'function', file: FILE, lane: 'gpu' }, other: { kind: 'function', file: FILE } },
      lanes: { gpu: { limit: 1 }, nightly: { limit: 1 } },
      retries: { schedule: { sharedLane: 'nightly' } },
    },
  });
  await fleet.start('api');
  await fleet.start('scheduler');
  await Promise.all([fleet.start('worker'), fleet.start('worker')]);
});
afterAll(async () => {
  await fleet.stop();
});

/** The maximum of these that ran at once, from the journal of their agents. */
function maxAtOnce(ids: readonly string[]): number {
  let now = 0;
  const own = fleet.journal().filter(({ task }) => ids.includes(task));
  return Math.max(...own.map(({ event }) => (now += event === 'start' ? 1 : -1)));
}

async function runSchedule(agent: string, context: object = WORK): Promise<string> {
  const { id } = (await fleet.client.make('/v1/schedules', { every: '1h', agent, message: agent, context })) as { id: string };
  const { body, status } = await fleet.client.call('POST', `/v1/schedules/${id}/run`);
  expect(status).toBeLessThan(300);
  return String(body.id ?? body.taskId);
}

async function runSchedules(agent: string): Promise<string[]> {
  return await Promise.all([0, 1, 2].map(() => runSchedule(agent)));
}

it("an agent's lane holds for scheduled runs, messages of sessions and tasks by API alike", async () => {
  const tasks = Array.from({ length: RUNS }, (_, position) =>
    fleet.client.submit({ agent: 'gpu', context: WORK, ...(position % 2 === 0 ? { session: `s${position % 4}` } : {}) }),
  );
  const messages = Array.from({ length: 3 }, async (_, position) => {
    const body = { text: `message ${position}`, agent: 'gpu', context: WORK };
    return String((await fleet.client.call('POST', `/v1/sessions/talk-${position}/messages`, { body })).body.id);
  });
  const ids = (await Promise.all([...tasks, ...messages, runSchedules('gpu')])).flat();
  const ended = await fleet.client.ended(ids, 60_000);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
  expect(maxAtOnce(ids)).toBe(1);
});

it('the lane of a source holds for all of its tasks', async () => {
  const ids = await runSchedules('other');
  await fleet.client.ended(ids, 30_000);
  expect(maxAtOnce(ids)).toBe(1);
});

it('a lane does not stand empty behind a task that waits for another lane, which why names with who holds it', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const holder = await runSchedule('other', { workMs: [60_000] });
    await fleet.client.reaches(holder, ['running']);
    const waits = await runSchedule('gpu');
    const tasks = await Promise.all([0, 1].map(() => fleet.client.submit({ agent: 'gpu', context: { workMs: [20] } })));
    const ended = await fleet.client.ended(tasks, 20_000);
    expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const { reasons, gates } = (await fleet.client.call('GET', `/v1/tasks/${waits}/why`)).body;
    expect(reasons).toMatchObject([{ gate: 'lane', taskId: holder, detail: `behind task ${holder} in lane "nightly", 1 before it` }]);
    expect(gates.find(({ state }: { state: string }) => state === 'closed')).toMatchObject({ gate: 'lane', facts: { holder } });
    await fleet.client.call('POST', `/v1/tasks/${holder}/cancel`);
    await fleet.client.ended([waits], 20_000);
  }
});

it('why names each lane that a task waits for', async () => {
  const LONG = { workMs: [60_000] };
  const holder = await fleet.client.submit({ agent: 'gpu', session: 'line', context: LONG });
  await fleet.client.reaches(holder, ['running']);
  const waits = await fleet.client.submit({ agent: 'gpu', session: 'line', context: WORK });
  const why = async (): Promise<{ detail: string }[]> => (await fleet.client.call('GET', `/v1/tasks/${waits}/why`)).body.reasons;
  await waitFor(async () => (await why()).length === 2, { deadlineMs: 20_000, what: 'two reasons' });
  expect((await why()).map(({ detail }) => detail)).toEqual([
    `behind task ${holder} in session "line", 1 before it`,
    `behind task ${holder} in lane "gpu", 1 before it`,
  ]);
  await fleet.client.call('POST', `/v1/tasks/${holder}/cancel`);
  await fleet.client.ended([waits], 20_000);
});
