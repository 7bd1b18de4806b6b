import { generateText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { ModelCalls } from '#shared/models/model-calls.ts';
import { accountOf } from '#shared/providers/account.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts({ models: { m: { inputUsdPerMTok: 1, outputUsdPerMTok: 1 } } });
const { redis, keys } = parts;
const CALLS = 10;

it('run one script before each call and one after it, under a throttle, a circuit and two budgets', async () => {
  for (const per of ['day', 'month'] as const)
    await parts.budgets.put('default', per, budgetSchema.parse({ scope: 'tenant', per, hardMicroUsd: 1_000_000 }));
  const ref = { tenant: 'default', id: newTaskId(), token: 1, lane: null };
  await redis.zadd(keys.shard(keys.shardOf('default')).leases, Date.now() + 60_000, leaseMember(ref));
  const subject = { tenant: 'default', agent: 'writer', session: null, scheduleId: null, rootTaskId: ref.id, keyId: null };
  const models = new ModelCalls({ ...parts, settings: parts.config.settings }).open({
    caller: { ref, agent: 'writer', subject, band: 'normal', weight: 1 },
    signal: () => new AbortController().signal,
    onUsage: () => undefined,
    onNote: () => undefined,
    redact: (text) => text,
  });
  const model = models.wrap({
    name: 'm',
    account: accountOf({}, { baseUrl: 'http://model.test', apiKey: 'sk', isOperators: true }),
    modelFor: () => new MockLanguageModelV4({ doGenerate: () => Promise.resolve(ANSWER) }),
    failureOf: (error) => {
      throw error;
    },
    ownCostOf: () => undefined,
  });
  const call = async (): Promise<void> => {
    // What a process knows of budgets is read again each second.
    await parts.budgets.of('default');
    await generateText({ model, prompt: 'hello', maxRetries: 0 });
    // The next call would take the end of this one along in its own trip.
    await models.close();
  };
  await call();
  await redis.config('RESETSTAT');
  for (let count = 0; count < CALLS; count += 1) await call();
  const stats = await redis.info('commandstats');
  expect(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1]).toBe(`${2 * CALLS}`);
  const [day] = await redis.keys('*spent:day*');
  expect(await redis.hget(day ?? '', 'spent')).toBe(`${30 * (CALLS + 1)}`);
});

const ANSWER = {
  content: [{ type: 'text' as const, text: 'Hi' }],
  finishReason: { unified: 'stop' as const, raw: 'stop' },
  usage: {
    inputTokens: { total: 20, noCache: 20, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 10, text: 10, reasoning: 0 },
  },
  warnings: [],
};
