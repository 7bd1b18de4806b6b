import { expect, test } from 'vitest';
import { useApi } from '../support/use-api.ts';
import { UNREADABLE_STATE } from '../../../shared/ledger/support/stored-states.ts';

const api = await useApi({ limits: { maxConcurrent: 7 } });

test('an administrator of the installation reads the checks of the fleet and its configuration', async () => {
  const { parts } = api;
  await parts.redis.hset(parts.keys.tenant('default').states, '01TASK', UNREADABLE_STATE);
  const checks = await api.call('GET', '/v1/checks');
  expect(checks.status).toBe(200);
  const { items } = checks.body as { items: { name: string }[] };
  const detail: unknown = expect.stringContaining('task of tenant default 01TASK');
  expect(items).toContainEqual({ id: 'data.unreadable', name: 'Records', state: 'warn', detail });
  expect(items.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Redis version', 'Workers', 'Hubs', 'Results going out', 'Limits']),
  );
  const configuration = await api.call('GET', '/v1/configuration');
  expect(configuration.status).toBe(200);
  expect(configuration.body).toMatchObject({
    version: expect.any(String),
    items: expect.arrayContaining([{ section: 'limits', name: 'limits.maxConcurrent', value: 7, default: 1000, differs: true }]),
  });
});

test.each(['/v1/checks', '/v1/configuration'])('%s refuses readers, and administrators of other tenants', async (path) => {
  for (const [tenant, scope] of [
    ['default', 'operate'],
    ['acme', 'admin'],
  ] as const) {
    const answer = await api.call('GET', path, { key: await api.keyOf(tenant, [scope]) });
    expect(answer.status).toBe(403);
  }
});
