import { expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { FleetId } from '#shared/redis/fleet-id.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';

const server = await useRedis();
const { redis } = closeAfterTests(connect());
const keys = createKeys(1);
const { signal } = new AbortController();

function connect(): { redis: ReturnType<typeof connectRedis>; close: () => Promise<void> } {
  const client = connectRedis({ url: server.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  return { redis: client, close: () => Promise.resolve(client.disconnect()) };
}

it('processes that come first at once agree on the name of their fleet, and later ones find it', async () => {
  const names = await Promise.all(Array.from({ length: 5 }, () => new FleetId({ redis, keys }).read(signal)));
  expect(new Set(names).size).toBe(1);
  expect(names[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(await new FleetId({ redis, keys }).read(signal)).toBe(names[0]);
  await redis.flushall();
  expect(await new FleetId({ redis, keys }).read(signal)).not.toBe(names[0]);
});

it('waits while Redis is away, until the signal aborts', async () => {
  const id = new FleetId({ redis, keys });
  const known = await id.read(signal);
  await server.kill();
  const late = new FleetId({ redis, keys });
  const waiting = late.read(signal);
  const stopping = new AbortController();
  const stopped = late.read(stopping.signal);
  stopping.abort(new Error('enough'));
  await expect(stopped).rejects.toThrow('enough');
  // What is known needs no Redis.
  expect(await id.read(AbortSignal.abort())).toBe(known);
  await server.restart();
  expect(await waiting).toMatch(/^[0-9a-f]{16}$/);
});
