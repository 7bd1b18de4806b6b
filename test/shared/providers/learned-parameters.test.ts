import { expect, it } from 'vitest';
import { judgeParameters } from '#shared/findings/kinds/surroundings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { accountOf, throttleId } from '#shared/providers/account.ts';
import { LearnedParameters } from '#shared/providers/learned-parameters.ts';
import { listThrottles } from '#shared/providers/read-throttles.ts';
import { useEmptyParts } from '../../support/use-parts.ts';

const parts = await useEmptyParts();
const { redis, keys } = parts;
const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });
const open = (): LearnedParameters => new LearnedParameters({ redis, keys, log });

const account = accountOf({}, { baseUrl: 'https://llm.company.test/v1', apiKey: 'sk', isOperators: true });
const target = { account, model: 'm' };

async function called(model: string): Promise<void> {
  const id = throttleId(account, model);
  await redis.zadd(keys.fleet.throttles, Date.now(), id);
  await redis.hset(keys.fleet.throttle(id), { account: account.name, model, endpoint: account.endpoint });
}

it('what a model refuses is known to every process once one has learned it, and shown by the doctor', async () => {
  await called('m');
  await called('other');
  const fleet = { ...parts, settings: parts.config.settings };
  const judge = async () => judgeParameters(await listThrottles(fleet, 10));
  expect(await judge()).toEqual({ findings: [], note: null });
  await open().learn(target, { max_tokens: { as: 'max_completion_tokens', max: 8192 }, temperature: { as: null } });
  expect(await open().read(target)).toEqual({ max_tokens: { as: 'max_completion_tokens', max: 8192 }, temperature: { as: null } });
  expect(await open().read({ account, model: 'other' })).toEqual({});
  const detail = 'm at llm.company.test: max_tokens is sent as max_completion_tokens, at most 8192; temperature is left out';
  expect(await judge()).toEqual({ findings: [], note: detail });
  await open().learn(target, { stream_options: { as: null } });
  expect((await judge()).findings).toMatchObject([{ code: 'model.parameters', severity: 'warning', subject: 'm at llm.company.test' }]);
});

it('is not kept for a model that has no throttle, and nothing is known of what cannot be read', async () => {
  const unknown = { account, model: 'never called' };
  await open().learn(unknown, { top_p: { as: null } });
  expect(await redis.exists(keys.fleet.throttle(throttleId(account, unknown.model)))).toBe(0);
  await called('odd');
  await redis.hset(keys.fleet.throttle(throttleId(account, 'odd')), 'parameters', '{"top_p":7}');
  expect(await open().read({ account, model: 'odd' })).toEqual({});
});
