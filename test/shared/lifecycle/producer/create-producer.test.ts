import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { createClient } from '#shared/client/index.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { createProducer, type Producer } from '#shared/lifecycle/producer/index.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { freePort } from '../../../support/free-port.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { startApi } from '../../../services/api/support/start-api.ts';

const SETTINGS: SettingsInput = {
  agents: { echo: { kind: 'echo' } },
  limits: { tenants: { small: { rates: { user: { perMinute: 2, perHour: 100, burst: 2 } } } } },
};

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url, SETTINGS));
await useWorker(api.parts);
const client = createClient({ url: api.url, key: api.key });
const folder = await useFolder('muster-producer-');
const configFile = join(folder, 'muster.config.mjs');
await writeFile(configFile, `export default ${JSON.stringify(SETTINGS)};\n`);

const producers: Producer[] = [];
function producerWith(options: { tenant?: string; redisUrl?: string } = {}): Producer {
  const producer = createProducer({ redisUrl: redis.url, configFile, ...options });
  producers.push(producer);
  return producer;
}
afterAll(() => Promise.all(producers.map((producer) => producer.close())));
const producer = producerWith();

describe('a producer', () => {
  it('sends tasks that workers run', async () => {
    const sent = await producer.send('echo', 'straight into Redis', { metadata: { order: 17 }, priority: 'high' });
    expect(sent).toMatchObject({ position: 0, isDuplicate: false });
    const task = client.task(sent.id);
    expect(await task.result()).toBe('straight into Redis');
    expect(await task.read()).toMatchObject({ source: 'api', metadata: { order: 17 }, priority: 8, keyId: null });
  });

  it('shares its keys with the API', async () => {
    const byApi = await client.send('echo', 'once', { idempotencyKey: 'shared' });
    expect(await producer.send('echo', 'once', { idempotencyKey: 'shared' })).toMatchObject({ id: byApi.id, isDuplicate: true });
    await expect(producer.send('echo', 'twice', { idempotencyKey: 'shared' })).rejects.toMatchObject({ code: 'task.idempotency-conflict' });
  });

  it('knows the agents that the API made', async () => {
    await api.call('PUT', '/v1/agents/made', { body: { kind: 'echo' } });
    const { id } = await producer.send('made', 'hello');
    expect(await client.task(id).result()).toBe('hello');
  });

  it.each([
    { what: 'an agent that nobody has', send: () => producer.send('nobody', 'hello'), code: 'agent.unknown' },
    { what: 'no input', send: () => producer.send('echo', ''), code: 'request.invalid' },
    { what: 'an unknown field', send: () => producer.send('echo', 'x', { priorty: 5 } as never), code: 'request.invalid' },
    { what: 'what is no JSON', send: () => producer.send('echo', 1n), code: 'request.invalid' },
    { what: 'a source that Muster gives', send: () => producer.send('echo', 'x', { source: 'webhook' }), code: 'task.source-reserved' },
    { what: 'more than a body may have', send: () => producer.send('echo', 'x'.repeat(2_000_000)), code: 'request.too-large' },
    { what: 'a key that is none', send: () => producer.send('echo', 'x', { idempotencyKey: 'a b' }), code: 'request.invalid' },
    { what: 'a tenant that nobody made', send: () => producerWith({ tenant: 'nobody' }).send('echo', 'x'), code: 'tenant.not-found' },
  ])('is refused $what as the API refuses it', async ({ send, code }) => {
    await expect(send()).rejects.toMatchObject({ code });
  });

  it('keeps to the limits of its tenant, and gives each of many tasks its own answer', async () => {
    expect((await api.call('POST', '/v1/tenants', { body: { id: 'small' } })).status).toBe(201);
    await api.parts.tenants.refresh();
    const items = ['one', 'two', 'three'].map((input) => ({ agent: 'echo', input }));
    const sent = await producerWith({ tenant: 'small' }).sendMany([...items, { agent: 'nobody', input: 'x' }]);
    expect(sent).toMatchObject([{ isDuplicate: false }, { isDuplicate: false }, { code: 'limit.rate' }, { code: 'agent.unknown' }]);
  });

  it('says that Redis does not answer, and tries again with the next task', async () => {
    const lost = producerWith({ redisUrl: `redis://127.0.0.1:${await freePort()}` });
    await expect(lost.send('echo', 'x')).rejects.toMatchObject({ code: 'unavailable.redis' });
    await expect(lost.send('echo', 'x')).rejects.toMatchObject({ code: 'unavailable.redis' });
  });

  it('that is closed leaves nothing that would keep its program alive', async () => {
    const module = JSON.stringify(resolve(import.meta.dirname, '../../../../shared/lifecycle/producer/index.ts'));
    const program = `import { createProducer } from ${module};
      const producer = createProducer(${JSON.stringify({ redisUrl: redis.url, configFile })});
      console.log((await producer.send('echo', 'from a program')).id);
      await producer.close();
      await producer.send('echo', 'x').catch(({ code }) => console.log(code));`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      cwd: folder,
      env: childEnvironment({ PORT: 'none', LOG_LEVEL: 'loud' }),
    });
    const ended = once(child, 'close');
    const [id, code] = (await text(child.stdout)).trim().split('\n');
    expect(await ended).toEqual([0, null]);
    expect(code).toBe('unavailable.shutting-down');
    expect(await client.task(id ?? '').result()).toBe('from a program');
  });
});
