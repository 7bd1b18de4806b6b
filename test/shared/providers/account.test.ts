import { expect, it } from 'vitest';
import { accountOf } from '#shared/providers/account.ts';

const providers = { local: { baseUrl: 'http://models.test/v1/', requestsPerMinute: 60 } };
const baseUrl = 'http://models.test/v1';

const nameOf = (apiKey: string): string => accountOf({}, { baseUrl, apiKey, isOperators: false }).name;

it('the account of the configuration is that of its own agents, and no tenant with a key of its own shares it', () => {
  expect(accountOf(providers, { baseUrl, apiKey: 'ours', isOperators: true })).toMatchObject({
    name: 'local',
    limits: { requestsPerMinute: 60 },
  });
  const account = accountOf(providers, { baseUrl, apiKey: 'theirs', isOperators: false });
  expect(account).toMatchObject({ endpoint: 'http://models.test', limits: {} });
  expect(account.name).not.toBe('local');
});

it('each key has an account of its own at the same address', () => {
  expect(nameOf('one')).toBe(nameOf('one'));
  expect(nameOf('one')).not.toBe(nameOf('other'));
});
