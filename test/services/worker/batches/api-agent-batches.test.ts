import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createWorkerService } from '../../../../services/worker/create-worker-service.ts';
import { awaitEnd, awaitTask } from '../../../support/agents/await-task.ts';
import { BATCH_ANSWER, type BatchProvider, startBatchProvider } from '../../../support/agents/batch-provider.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

let provider: BatchProvider;
let parts: Parts;
let worker: Service;
let tests = 0;
/** Each test has tenants of its own. */
let tenant = '';

const redis = await useRedis();

beforeAll(async () => {
  provider = await startBatchProvider();
  provider.model.mock.on({ predicate: () => true }, () => ({ content: 'Directly', usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  const { baseUrl } = provider;
  parts = await openTestParts({
    redisUrl: redis.url,
    env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k-fleet' },
    settings: {
      agents: { model: { kind: 'openai', model: 'small', baseUrl, apiKey: 'k-own' } },
      models: { small: { inputUsdPerMTok: 1000, outputUsdPerMTok: 3000 } },
      providers: { mock: { baseUrl, batch: true } },
      limits: { fleetKeyForApiAgents: true },
      outbound: { allowNetworks: ['127.0.0.0/8'] },
      modelBatches: { gatherMs: 200, pollMs: 20, maxPollMs: 100, stepMs: 2000, marginMs: 0, minWithinMs: 500 },
    },
  });
  worker = createWorkerService(parts);
  await worker.start();
});

beforeEach(() => {
  tests += 1;
  tenant = `t${tests}`;
  provider.reset();
});

afterAll(async () => {
  await worker.stop(1000);
  await parts.close();
  await provider.close();
});

const make = async (of: string, id: string, definition: object = {}): Promise<unknown> =>
  await parts.catalog.put(of, id, {
    kind: 'openai',
    model: 'small',
    baseUrl: provider.baseUrl,
    apiKey: 'k-own',
    within: '24h',
    ...definition,
  });
const submit = async (agent: string, of = tenant, within?: string): Promise<string> =>
  (await acceptTask(parts, { tenant: of, agent, input: 'hello', ...(within !== undefined && { within }) })).id;

it('a call of an agent made by API goes by a batch with its own key', async () => {
  await make(tenant, 'writer');
  const task = await awaitEnd(parts, await submit('writer'), tenant);
  expect(task.output).toBe(BATCH_ANSWER);
  expect(task.state.usage).toMatchObject({ costMicroUsd: 2000 });
  expect(provider.batches.map(({ key }) => key)).toEqual(['Bearer k-own']);
  expect(provider.direct).toEqual([]);
});

it('a call of one without a key of its own goes so with that of the fleet, where it may use it', async () => {
  await parts.catalog.put(tenant, 'writer', { kind: 'openai', model: 'small' });
  expect((await awaitEnd(parts, await submit('writer', tenant, '24h'), tenant)).output).toBe(BATCH_ANSWER);
  expect(provider.batches.map(({ key }) => key)).toEqual(['Bearer k-fleet']);
});

it('calls of two tenants, and those of the configuration, are in no batch together, also with one key', async () => {
  const other = `${tenant}-other`;
  await make(tenant, 'writer');
  await make(other, 'writer');
  const own = [await submit('writer'), await submit('writer')];
  const [foreign, configured] = [await submit('writer', other), await submit('model', tenant, '24h')];
  for (const id of [...own, configured]) expect((await awaitEnd(parts, id, tenant)).output).toBe(BATCH_ANSWER);
  expect((await awaitEnd(parts, foreign, other)).output).toBe(BATCH_ANSWER);
  const sent = provider.batches.map(({ lines }) => new Set(lines.map(({ custom_id: line }) => line.split('_')[0])));
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(expect.arrayContaining([new Set(own), new Set([foreign]), new Set([configured])]));
});

it('a call of one at an address that is no provider with batches goes directly', async () => {
  await make(tenant, 'writer', { baseUrl: provider.model.baseUrl });
  expect((await awaitEnd(parts, await submit('writer'), tenant)).output).toBe('Directly');
  expect(provider.batches).toEqual([]);
});

it('a call goes directly whose agent has another key before it is sent', async () => {
  await make(tenant, 'writer');
  provider.onRequest = (method) => (method === 'POST' ? 503 : undefined);
  const id = await submit('writer');
  await awaitTask(parts, { id, tenant }, (task) => task.state.status === 'suspended', 'the run to wait');
  await make(tenant, 'writer', { apiKey: 'k-new' });
  provider.onRequest = () => undefined;
  expect((await awaitEnd(parts, id, tenant)).output).toBe('Directly');
  expect(provider.batches).toEqual([]);
});
