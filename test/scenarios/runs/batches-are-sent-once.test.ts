import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { BATCH_ANSWER, type BatchProvider, promptOf, startBatchProvider } from '../../support/agents/batch-provider.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { TRANSLATED } from '../../support/fleet/runs/translating-agent.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const TASKS = 3;
/** What a worker is killed at: its request is done there, and it does not learn of it. */
const FATAL = testEnvironment.isChaos
  ? [/^POST \/v1\/files$/, /^POST \/v1\/batches$/, /^GET \/v1\/files\/[^/]+\/content$/]
  : [/^POST \/v1\/batches$/];

const TRANSLATING = fileURLToPath(import.meta.resolve('../../support/fleet/runs/translating-agent.ts'));

let provider: BatchProvider;
let fleet: Fleet;
beforeAll(async () => {
  provider = await startBatchProvider();
  const { baseUrl } = provider;
  fleet = await openFleet({
    env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k' },
    settings: {
      agents: {
        model: { kind: 'openai', model: 'small', baseUrl, apiKey: 'k' },
        translating: { kind: 'function', file: TRANSLATING, within: '24h' },
      },
      models: { small: { inputUsdPerMTok: 1000, outputUsdPerMTok: 3000 } },
      providers: { mock: { baseUrl, batch: true } },
      modelBatches: { gatherMs: 500, pollMs: 50, maxPollMs: 200, stepMs: 1000 },
    },
  });
  await fleet.start('api');
});
beforeEach(async () => {
  await fleet.clear();
  provider.reset();
});
afterAll(async () => {
  await fleet.stop();
  await provider.close();
});

it('a batch is sent once, and each of its answers counts once, while workers are killed between its steps', async () => {
  let worker: ServiceProcess = await fleet.start('worker');
  const kills: Promise<void>[] = [];
  let restarts = 0;
  const fatal = [...FATAL];
  provider.losesReply = (method, path) => {
    if (kills.length > restarts || fatal[0]?.test(`${method} ${path}`) !== true) return false;
    fatal.shift();
    kills.push(worker.kill());
    return true;
  };
  const submitted = Array.from({ length: TASKS }, (_, at) => fleet.client.submit({ agent: 'model', input: `${at}`, within: '24h' }));
  const ids = await Promise.all(submitted);
  for (let kill = 1; kill <= FATAL.length; kill += 1) {
    await waitFor(() => kills.length === kill, { deadlineMs: 30_000, everyMs: 20, what: `kill ${kill}` });
    await kills.at(-1);
    restarts = kill;
    worker = await fleet.start('worker');
  }
  const tasks = await fleet.client.ended(ids, 60_000);
  for (const task of tasks)
    expect(task).toMatchObject({ status: 'completed', attempt: 1, output: BATCH_ANSWER, usage: { costMicroUsd: 2000 } });
  const lines = provider.batches.flatMap((batch) => batch.lines.map(({ custom_id: line }) => line));
  expect(lines.toSorted()).toEqual(ids.map((id) => `${id}_2`).toSorted());
  expect(provider.files.size).toBe(provider.batches.length);
  expect(provider.direct).toEqual([]);
});

it('calls that a function makes at the same time go by one batch, and its steps are done once, while workers are killed as it waits', async () => {
  provider.answer = ({ messages }) => ({ role: 'assistant', content: `${String(messages.at(-1)?.content)}!` });
  provider.isHolding = true;
  const first = await fleet.start('worker');
  const id = await fleet.client.submit({ agent: 'translating', input: 'one\ntwo\nthree' });
  await waitFor(() => provider.batches.length === 1, { deadlineMs: 30_000, everyMs: 20, what: 'the batch' });
  await first.kill();
  let second: Promise<void> | undefined;
  const worker = await fleet.start('worker');
  provider.losesReply = (method, path) => {
    if (second !== undefined || method !== 'GET' || !path.endsWith('/content')) return false;
    second = worker.kill();
    return true;
  };
  provider.isHolding = false;
  await waitFor(() => second !== undefined, { deadlineMs: 30_000, everyMs: 20, what: 'the second kill' });
  await second;
  await fleet.start('worker');
  const [task] = await fleet.client.ended([id], 60_000);
  expect(task).toMatchObject({ status: 'completed', attempt: 1, output: 'one!\ntwo!\nthree!', usage: { costMicroUsd: 6000 } });
  expect(provider.batches.map(({ lines }) => lines.map((line) => promptOf(line)).toSorted())).toEqual([['one', 'three', 'two']]);
  expect(provider.direct).toEqual([]);
  expect(readFileSync(`${fleet.directory}/${TRANSLATED}`, 'utf8').trim().split('\n')).toHaveLength(1);
});
