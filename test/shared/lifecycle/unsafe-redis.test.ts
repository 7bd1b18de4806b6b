import { afterEach, expect, it } from 'vitest';
import { createProducer } from '#shared/lifecycle/producer/create-producer.ts';
import { type ServiceName, startServiceProcess } from '../../support/fleet/service-process.ts';
import { startDeclaredKeysOnly } from '../../support/redis/declared-keys-only.ts';
import { useRedis, useRedisClient } from '../../support/redis/use-redis.ts';
import { useFolder } from '../../support/use-folder.ts';

const server = await useRedis();
const operator = await useRedisClient(server);
const directory = await useFolder('muster-unsafe-');

afterEach(() => operator.config('SET', 'maxmemory-policy', 'noeviction'));

async function start(service: ServiceName, url: string): Promise<{ code: number | null; said: string[] }> {
  const env = { REDIS_URL: url, PORT: '0', MUSTER_DATA_DIR: directory };
  const { exited, lines } = await startServiceProcess({ service, cwd: directory, env });
  const { code } = await exited;
  return { code, said: lines.flatMap(({ msg }) => (msg?.startsWith('Muster cannot start: ') ? [msg] : [])) };
}

it.each(['api', 'worker', 'scheduler'] as const)(
  'the service %s ends with one sentence where accepted work would be evicted',
  async (service) => {
    await operator.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { code, said } = await start(service, server.url);
    expect(code).toBe(78);
    expect(said).toEqual([expect.stringMatching(/^Muster cannot start: Redis has maxmemory-policy allkeys-lru, .* noeviction, or .*\.$/)]);
  },
);

it('a service ends with one sentence where scripts may use declared keys only', async () => {
  const strict = await startDeclaredKeysOnly(server.port, 'dragonfly');
  const { code, said } = await start('api', strict.url);
  await strict.close();
  expect(code).toBe(78);
  expect(said).toEqual([expect.stringMatching(/--default_lua_flags=allow-undeclared-keys, or use another server\.$/)]);
});

it('a producer sends nothing there', async () => {
  await operator.config('SET', 'maxmemory-policy', 'volatile-lru');
  const producer = createProducer({ redisUrl: server.url });
  await expect(producer.send('echo', 'a')).rejects.toMatchObject({ code: 'config.invalid' });
  await producer.close();
});
