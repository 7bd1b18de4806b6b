import { expect, test } from 'vitest';
import { describeConfiguration } from '#shared/config/describe-configuration.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';

const SECRETS = [
  'admin-secret-0123456789',
  'provider-secret-key',
  'user-of-redis',
  'header-secret',
  'argument-secret',
  'query-secret',
  'env-secret',
];

async function describe(): Promise<ReturnType<typeof describeConfiguration>> {
  const variables = {
    MUSTER_ADMIN_KEY: SECRETS[0],
    OPENAI_API_KEY: SECRETS[1],
    REDIS_URL: `redis://me:${SECRETS[2]}@10.0.0.1:6379`,
    PORT: '4000',
  };
  const config = await loadConfig(variables, '/nowhere');
  const settings = settingsSchema.parse({
    limits: { maxConcurrent: 7 },
    providers: { main: { baseUrl: `https://me:${SECRETS[2]}@example.com/v1?key=${SECRETS[5]}` } },
    agents: {
      web: { kind: 'http', url: `https://example.com/run?token=${SECRETS[5]}`, secret: 'whsec_x', headers: { 'x-own': SECRETS[3] } },
      program: { kind: 'command', command: ['run', SECRETS[4]], env: { A: SECRETS[6] }, description: `Holds ${SECRETS[1]}.` },
    },
  });
  return describeConfiguration({ ...config, settings });
}

test('each setting is beside its default, and says whether it differs', async () => {
  const items = await describe();
  const named = (name: string): unknown => items.find((each) => each.name === name);
  expect(named('limits.maxConcurrent')).toEqual({
    section: 'limits',
    name: 'limits.maxConcurrent',
    value: 7,
    default: 1000,
    differs: true,
  });
  expect(named('PORT')).toEqual({ section: 'environment', name: 'PORT', value: 4000, default: 3000, differs: true });
  expect(named('SHARDS')).toMatchObject({ value: 1, default: 1, differs: false });
  expect(named('MUSTER_PUBLIC_URL')).toMatchObject({ value: null, default: null, differs: false });
  expect(named('agents.web.kind')).toMatchObject({ value: 'http', default: null, differs: true });
});

test('no secret of a variable, an agent or an address is shown', async () => {
  const items = await describe();
  const text = JSON.stringify(items);
  for (const secret of [...SECRETS, 'whsec_x']) expect(text).not.toContain(secret);
  const valueOf = (name: string): unknown => items.find((each) => each.name === name)?.value;
  expect(valueOf('MUSTER_ADMIN_KEY')).toBe('[redacted]');
  expect(valueOf('agents.web.url')).toBe('https://example.com/run?[redacted]');
  expect(valueOf('providers.main.baseUrl')).toBe('https://[redacted]@example.com/v1?[redacted]');
  expect(valueOf('agents.program.description')).toBe('Holds [redacted].');
});
