import pMap from 'p-map';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { LimitedBullmq } from '../../bench/rivals/limited-bullmq.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { startProviderSimulator, type ProviderSimulator } from '../../support/agents/provider-simulator.ts';
import { waitFor } from '../../support/wait-for.ts';

const PER_MINUTE = 1200;
const SMALL = { workers: 4, tasks: 240, endMs: 60_000, behindWall: 12, wallMs: 4000 };
/** Ten minutes of the rate. */
const FULL = { workers: 8, tasks: 12_000, endMs: 900_000, behindWall: 200, wallMs: 30_000 };
const SIZE = testEnvironment.isChaos ? FULL : SMALL;
const SLOTS = 12;
const AT_ONCE = 50;
/** Of the burst that the provider takes, the fleet uses less: calls come closer together on their way. */
const BURST = { ours: 0.02, theirs: Math.ceil(0.05 * PER_MINUTE) };

let provider: ProviderSimulator;
let fleet: Fleet;

beforeEach(async () => {
  provider = await startProviderSimulator({ requestsPerMinute: PER_MINUTE, burst: BURST.theirs, answerMs: 200 });
  const { baseUrl } = provider;
  fleet = await openFleet({
    settings: {
      agents: { model: { kind: 'openai', baseUrl, apiKey: 'key', model: 'simulated', maxOutputTokens: 10 } },
      providers: { simulated: { baseUrl, requestsPerMinute: PER_MINUTE } },
      throttle: { burst: BURST.ours, callLeaseMs: 2000, probeMs: 1000 },
      queues: { tasks: { slots: SLOTS } },
      limits: { tenant: { waiting: 2 * SIZE.tasks } },
    },
  });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
  await provider.close();
});

it('takes calls of a fleet at its rate and refuses none, while workers are killed; behind a wall one call tries for all', async () => {
  const workers = await Promise.all(Array.from({ length: SIZE.workers }, () => fleet.start('worker')));
  const submit = (input: string): Promise<string> => fleet.client.submit({ agent: 'model', input });
  const numbers = Array.from({ length: SIZE.tasks }, (_, number) => number);
  const tasks = await pMap(numbers, (number) => submit(`task ${number}`), { concurrency: AT_ONCE });
  await waitFor(() => provider.calls.length > SIZE.tasks / 3, { deadlineMs: SIZE.endMs, what: 'the first third of the calls' });
  await workers[0]?.kill();
  const ended = await fleet.client.ended(tasks, SIZE.endMs);
  expect(ended.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(ended.map(({ attempt }) => attempt)).toEqual(ended.map(() => 1));
  expect(provider.calls.filter(({ status }) => status !== 200)).toEqual([]);
  const lost = new Set(workers.flatMap(({ lines }) => lines.flatMap(({ event, task }) => (event === 'task.orphaned' ? [`${task}`] : []))));
  const prompts = new Set(numbers.filter((number) => lost.has(tasks[number] ?? '')).map((number) => `task ${number}`));
  const figure = `${usedShare(prompts)}, no call refused, one worker killed with ${lost.size} tasks`;
  reportFigure(`calls of ${SIZE.tasks} tasks under a rate of ${PER_MINUTE} a minute`, figure);

  provider.wall();
  const before = provider.calls.length;
  const waiting: string[] = [];
  for (let number = 0; number < SIZE.behindWall; number += 1) waiting.push(await submit(`later ${number}`));
  const walledFor = (): number => performance.now() - (provider.calls[before]?.at ?? performance.now());
  await waitFor(() => walledFor() > SIZE.wallMs, { deadlineMs: 2 * SIZE.endMs, what: 'some tries of the wall' });
  provider.lift();
  const refused = provider.calls.slice(before).filter(({ status }) => status === 429);
  const first = refused[0]?.at ?? 0;
  // What was under way when the first refusal came, and then one call after 1, 2, 4 seconds and so on.
  const tries = refused.filter(({ at }) => at > first + 700);
  expect(tries.length).toBeLessThanOrEqual(Math.ceil(Math.log2(SIZE.wallMs / 1000)));
  const after = await fleet.client.ended(waiting, SIZE.endMs);
  expect(after.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(after.map(() => 'completed 1'));
  reportFigure(
    `calls into a wall of ${SIZE.wallMs} ms with ${SIZE.behindWall} tasks`,
    `${refused.length - tries.length} at once, then ${tries.length} tries`,
  );
  await expectNothingIsLeft();
});

it('beside raw BullMQ with its limiter', async () => {
  const limiter = { max: PER_MINUTE / 60, duration: 1000 };
  const raw = new LimitedBullmq({ url: fleet.redis.url, baseUrl: provider.baseUrl, workers: SIZE.workers, slots: SLOTS, limiter });
  try {
    const ended = await raw.process(SIZE.tasks, SIZE.endMs);
    const refused = provider.calls.filter(({ status }) => status === 429).length;
    expect(ended.completed + ended.failed).toBe(SIZE.tasks);
    reportFigure(`raw BullMQ: ${SIZE.tasks} jobs`, `${usedShare()}, ${refused} calls refused, ${ended.failed} jobs failed`);
    provider.wall();
    const before = provider.calls.length;
    const behind = await raw.process(SIZE.behindWall, SIZE.endMs);
    reportFigure(
      `raw BullMQ: ${SIZE.behindWall} jobs behind a wall`,
      `${provider.calls.length - before} calls into it, ${behind.failed} failed`,
    );
  } finally {
    await raw.close();
  }
});

/**
 * How much of the allowed rate the calls used as long as tasks waited for it. Tasks of a killed worker do not: they come back when their
 * leases have ended, and run isolated.
 */
function usedShare(lost: ReadonlySet<string> = new Set()): string {
  const all = provider.calls.filter(({ status }) => status === 200);
  const taken = all.slice(0, all.findLastIndex(({ prompt }) => !lost.has(prompt)) + 1);
  const [from, to] = [taken[0]?.at ?? 0, taken.at(-1)?.at ?? 0];
  const allowed = BURST.ours * PER_MINUTE + ((to - from) * PER_MINUTE) / 60_000;
  return `${Math.round((100 * taken.length) / allowed)} % of the rate used`;
}

/** No call counts as under way, no place is kept, and nobody waits. */
async function expectNothingIsLeft(): Promise<void> {
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  const left = async (): Promise<string[]> => {
    const { redis, keys } = parts;
    const [reserved, waits] = await Promise.all([redis.keys('*throttle-reserved*'), redis.zrange(keys.fleet.throttleWaits, '0', '-1')]);
    const running = await Promise.all((await redis.keys('*throttle-calls*')).map((key) => redis.zcount(key, Date.now(), '+inf')));
    return [...reserved, ...waits, ...running.filter((count) => count > 0).map(String)];
  };
  try {
    await waitFor(async () => (await left()).length === 0, { deadlineMs: 20_000, what: 'nothing to be left' });
  } finally {
    await parts.close();
  }
}
