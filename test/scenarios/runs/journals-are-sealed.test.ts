import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/index.ts';
import { connectRedis } from '#shared/redis/index.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';

const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/paid-agent.ts'));
const KEY = { MUSTER_SEAL_KEY: randomBytes(32).toString('base64') };

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

/** What the journal of a task has in Redis. */
async function storedOf(id: string): Promise<string> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const journal = await redis.hgetall(`muster:{s0}:t:default:journal:${id}`);
  redis.disconnect();
  return JSON.stringify(journal);
}

it('a sealed run waits and goes on, ends where its key is lost, and goes on with a retry once that is back', async () => {
  fleet = await openFleet({ settings: { agents: { paid: { kind: 'function', file: FILE } } } });
  await fleet.start('api', KEY);
  const worker = await fleet.start('worker', KEY);
  const id = await fleet.client.submit({ agent: 'paid' });
  await fleet.client.reaches(id, ['suspended']);
  expect(await storedOf(id)).not.toContain('a secret of the step');
  await worker.kill();

  const without = await fleet.start('worker');
  await fleet.client.call('POST', '/v1/events', { body: { name: 'paid', data: { by: 'ann' } } });
  await fleet.client.ended([id], 30_000);
  expect(await fleet.client.task(id)).toMatchObject({
    status: 'permanently_failed',
    error: { code: 'SEAL_KEY_LOST', message: expect.stringContaining('MUSTER_SEAL_KEY') },
  });
  await without.kill();

  await fleet.start('worker', KEY);
  expect((await fleet.client.call('POST', `/v1/tasks/${id}/retry`)).status).toBe(202);
  await fleet.client.ended([id], 30_000);
  expect(await fleet.client.task(id)).toMatchObject({ status: 'completed', output: 'a secret of the step, paid by ann' });
});
