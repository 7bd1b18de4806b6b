import { afterAll, beforeAll, expect, it } from 'vitest';
import { BATCH_ANSWER, type BatchProvider, startBatchProvider } from '../../support/agents/batch-provider.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const TASKS = 3;
/** What a worker is killed at: its request is done there, and it does not learn of it. */
const FATAL = testEnvironment.isChaos
  ? [/^POST \/v1\/files$/, /^POST \/v1\/batches$/, /^GET \/v1\/files\/[^/]+\/content$/]
  : [/^POST \/v1\/batches$/];

let provider: BatchProvider;
let fleet: Fleet;
beforeAll(async () => {
  provider = await startBatchProvider();
  const { baseUrl } = provider;
  fleet = await openFleet({
    settings: {
      agents: { model: { kind: 'openai', model: 'small', baseUrl, apiKey: 'k' } },
      models: { small: { inputUsdPerMTok: 1000, outputUsdPerMTok: 3000 } },
      providers: { mock: { baseUrl, batch: true } },
      modelBatches: { gatherMs: 500, pollMs: 50, maxPollMs: 200, stepMs: 1000 },
    },
  });
  await fleet.start('api');
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
