import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';

import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';

// Each test starts processes, which takes as long as the machine lets them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet();
});
afterEach(() => fleet.stop());

const EXIT_CONFIG = 78;
const WORDS = /SHARDS is 2, and what is in this Redis was written with SHARDS=1/;

it('a service that would look for everything in the wrong place does not start', async () => {
  await fleet.start('api');
  const other = await fleet.start('worker', { SHARDS: '2' });
  expect((await other.exited).code).toBe(EXIT_CONFIG);
  expect(other.lines.map(({ msg }) => msg).join('\n')).toMatch(WORDS);
});

it('one that started before Redis ends when Redis is there', async () => {
  await fleet.start('api');
  await fleet.redis.kill('SIGKILL');
  const other = await fleet.start('worker', { SHARDS: '2' });
  await fleet.redis.restart();
  expect((await other.exited).code).toBe(EXIT_CONFIG);
  expect(other.lines.map(({ msg }) => msg).join('\n')).toMatch(WORDS);
});

it('one that runs ends when a newer release took the data over', async () => {
  const api = await fleet.start('api');
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await redis.set(createKeys(1).fleet.installation, '99 1');
  redis.disconnect();
  expect((await api.exited).code).toBe(EXIT_CONFIG);
  expect(api.lines.map(({ msg }) => msg).join('\n')).toContain('was written by a newer Muster (form 99; this one reads form');
});

it('only the API makes the first key, so that no other service needs the chosen one', async () => {
  const worker = await fleet.start('worker', { MUSTER_ADMIN_KEY: '' });
  await fleet.start('api');
  expect(worker.lines.map(({ event }) => event)).not.toContain('key.created');
  const { body } = await fleet.client.call('GET', '/v1/tenants/default/keys');
  expect(body.items).toHaveLength(1);
});
