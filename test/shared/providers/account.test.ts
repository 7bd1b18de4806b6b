import { expect, it } from 'vitest';
import { accountLabel, accountOf, programAccount } from '#shared/providers/account.ts';
import { modelLabels } from '#shared/providers/model-labels.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';

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

const labelOf = (url: string, isOperators = true): string =>
  accountLabel(accountOf(providers, { baseUrl: url, apiKey: 'sk', isOperators }));

it('people see the name of the configuration, else the host, and never the digest of a key', () => {
  expect(labelOf(baseUrl)).toBe('local');
  expect(labelOf(baseUrl, false)).toBe('models.test');
  expect(labelOf('https://api.openai.com/v1')).toBe('api.openai.com');
  expect(labelOf('http://127.0.0.1:8080/v1')).toBe('127.0.0.1:8080');
});

it('people see the name of a program or of its agent, and never the digest of what it signs in with', () => {
  const own = { agent: 'coder', tenant: 'acme', isOperators: false };
  expect(accountLabel(programAccount({ ...own, signIn: { program: 'claude-code', secrets: ['sk'] } }))).toBe('claude-code');
  expect(accountLabel(programAccount(own))).toBe('agent coder of acme');
  expect(accountLabel(programAccount({ ...own, isOperators: true }))).toBe('agent coder');
});

it.each([
  ['http://models.test/v1', true, 'local'],
  ['https://gateway.test/v1', true, 'gateway.test'],
  ['https://api.openai.com/v1', false, 'api.openai.com'],
  ['https://tenant-17.test/v1', false, 'other'],
])('metrics call the account of %s, where %s, by %s', (url, isOperators, account) => {
  const settings = settingsSchema.parse({ providers });
  const agents = { writer: { kind: 'openai', model: 'm', baseUrl: 'https://gateway.test/v1' } } as const;
  const called = accountOf(providers, { baseUrl: url, apiKey: 'sk', isOperators });
  expect(modelLabels({ ...settings, agents }, { account: called, model: 'm' })).toEqual({ account, model: 'm' });
});
