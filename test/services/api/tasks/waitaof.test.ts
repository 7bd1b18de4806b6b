import { afterAll, expect, it } from 'vitest';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { startWaitaof } from '../../../support/redis/waitaof.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startApi } from '../support/start-api.ts';

const redis = await useRedis();
const server = await startWaitaof(redis.port);
const api = await startApi(server.url, { redis: { durability: 'waitaof', durabilityTimeoutMs: 300 } });
afterAll(async () => {
  server.free();
  await api.close();
  await server.close();
});

const body = { agent: 'echo', input: 'hello' };
const submit = (key: string) => api.call('POST', '/v1/tasks', { body, headers: { 'Idempotency-Key': key } });

it('a task is answered once the disk of Redis has it', async () => {
  server.block();
  const before = server.waits;
  const answering = submit('one');
  await waitFor(() => server.waits > before, { deadlineMs: 5000, everyMs: 2, what: 'the wait' });
  // It is accepted, and others see it; only its sender waits.
  expect((await api.call('GET', '/v1/tasks')).body.items).toHaveLength(1);
  server.free();
  expect(await answering).toMatchObject({ status: 202 });
});

it('after its time the sender gets 503, and the same key finds the task', async () => {
  server.block();
  expect(await submit('two')).toMatchObject({ status: 503, body: { code: 'unavailable.fsync' } });
  const bulk = { items: [{ ...body, idempotencyKey: 'three' }] };
  expect((await api.call('POST', '/v1/tasks/bulk', { body: bulk })).body.items).toMatchObject([{ httpStatus: 503, id: null }]);
  server.free();
  const again = await submit('two');
  expect(again.status).toBe(200);
  const { items } = (await api.call('GET', '/v1/tasks')).body;
  expect(items.map(({ id }: { id: string }) => id)).toContain(again.body.id);
});

it('many senders share a wait', async () => {
  const before = server.waits;
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => submit(`many-${at}`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(server.waits - before).toBeLessThan(30);
});
