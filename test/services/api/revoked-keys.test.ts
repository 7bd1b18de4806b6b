import { expect, test } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { ensureFirstKey } from '#shared/tenants/ensure-first-key.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startApi } from './support/start-api.ts';
import type { Reply } from '../../support/call-api.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url));
const idOf = async (name: string): Promise<string> => {
  const { body } = await api.call('GET', '/v1/tenants/default/keys');
  return (body.items as { id: string; name: string }[]).find((key) => key.name === name)?.id ?? '';
};
const revoke = (id: string): Promise<Reply> => api.call('DELETE', `/v1/tenants/default/keys/${id}`);

test('a request that waits for the end of its task ends when its key is revoked', async () => {
  const { body } = await api.call('POST', '/v1/tenants/default/keys', { body: { name: 'waits', scopes: ['submit'] } });
  const task = { agent: 'echo', input: 'nobody runs it' };
  const waiting = api.call('POST', '/v1/tasks?waitMs=60000', { key: body.secret as string, body: task });
  await waitFor(async () => (await api.call('GET', '/v1/tasks')).body.items.length === 1, { deadlineMs: 5000, what: 'the task' });
  expect((await revoke(await idOf('waits'))).status).toBe(204);
  const answer = await waiting;
  expect([answer.status, answer.body.code]).toEqual([401, 'auth.invalid']);
});

test('an admin key of MUSTER_ADMIN_KEY is revoked by API once another one was set, and does not come back', async () => {
  const log = createLog({ level: 'silent', service: 'test' });
  const startWith = (chosen: string): Promise<string | null> =>
    ensureFirstKey({ ...api.parts, log, config: { env: { MUSTER_ADMIN_KEY: chosen } } });
  const [before, after] = ['chosen-before-a-leak', 'chosen-after-the-leak'];
  await startWith(before);
  const id = await idOf('MUSTER_ADMIN_KEY');
  await startWith(after);
  expect((await api.call('DELETE', `/v1/tenants/default/keys/${id}`, { key: after })).status).toBe(204);
  await startWith(after);
  expect([
    (await api.call('GET', '/v1/agents', { key: before })).status,
    (await api.call('GET', '/v1/agents', { key: after })).status,
  ]).toEqual([401, 200]);
});
