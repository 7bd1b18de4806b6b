import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { scanKeys } from '#shared/redis/replies.ts';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

const TENANTS = 40;
/** Tenants that live at once. */
const TOGETHER = 8;

let fleet: Fleet;
let redis: RedisClient;
let apis: string[];
let webhooks: string;

beforeAll(async () => {
  fleet = await openFleet();
  const first = await fleet.start('api');
  const [second, hooks] = await Promise.all([fleet.start('api'), fleet.start('webhooks'), fleet.start('worker'), fleet.start('scheduler')]);
  apis = [first.url, second.url];
  webhooks = hooks.url;
  redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
});
afterAll(async () => {
  // First: what follows fails when the fleet could not start.
  await fleet.stop();
  redis.disconnect();
});

const keys = createKeys(1);

/** Every key, and every member of what tenants share, that names this tenant. What BullMQ keeps, and that it ended, are not among them. */
async function tracesOf(prefix: string): Promise<string[]> {
  const ends = new Set([keys.fleet.endedTenants, keys.fleet.tenantGenerations, keys.fleet.tenantsToClean, keys.shard(0).tenantStates]);
  const found: string[] = [];
  for await (const page of scanKeys(redis, '*')) {
    for (const key of page.filter((name) => !name.includes(':bull') && !ends.has(name))) {
      if (key.includes(prefix)) found.push(key);
      const type = await redis.type(key);
      const members =
        type === 'zset' ? await redis.zrange(key, '0', '-1') : type === 'hash' ? Object.entries(await redis.hgetall(key)).flat() : [];
      found.push(...members.filter((member) => member.includes(prefix)).map((member) => `${key}: ${member}`));
    }
  }
  return found;
}

const random = (): string => apis[Math.floor(Math.random() * apis.length)] ?? '';
const call = async (method: string, path: string, options: FleetCall = {}): Promise<Reply> =>
  await fleet.client.call(method, path, { url: random(), ...options });

/** One tenant from its beginning to its end, with several callers who go on after it. Returns every key that was ever made. */
async function liveAndEnd(tenant: string): Promise<string[]> {
  await fleet.client.make('/v1/tenants', { id: tenant });
  const secrets: string[] = [];
  const makeKey = async (): Promise<void> => {
    const { status, body } = await call('POST', `/v1/tenants/${tenant}/keys`, { body: { name: 'k', scopes: ['admin'] } });
    if (status === 201) secrets.push(body.secret);
  };
  await makeKey();
  const key = secrets[0] ?? '';
  let hook: string | undefined;
  const work = async (): Promise<void> => {
    const session = `s${Math.floor(Math.random() * 3)}`;
    await Promise.all([
      call('POST', '/v1/tasks', {
        key,
        body: { agent: 'echo', input: 'a b c', session },
        headers: { 'idempotency-key': `${Math.random()}` },
      }),
      call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x', callbackUrl: 'https://127.0.0.1:9/gone' } }),
      call('POST', '/v1/schedules', { key, body: { every: '1m', agent: 'echo', message: 'tick' } }),
      call('PUT', `/v1/sessions/${session}/mode`, { key, body: { mode: 'latest' } }),
      call('POST', `/v1/sessions/${session}/visitors`, { key, body: {} }).then(
        ({ status, body }) => status === 201 && secrets.push(body.token),
      ),
      call('POST', `/v1/sessions/${session}/messages`, { key, body: { text: 'hello' } }),
      call('PUT', '/v1/agents/mine', { key, body: { kind: 'echo' } }),
      fleet.client
        .call('POST', '/v1/hooks', { key, url: webhooks, body: { provider: 'none', agent: 'echo' } })
        .then(({ status, body }) => status === 201 && (hook = body.id)),
      hook === undefined ? null : fleet.client.call('POST', `/hooks/${hook}`, { key: null, url: webhooks, body: {} }),
    ]);
  };
  const callers = [
    repeatUntilStopped(work, 1),
    repeatUntilStopped(work, 5),
    repeatUntilStopped(makeKey, 1),
    repeatUntilStopped(makeKey, 3),
  ];
  await waitFor(() => secrets.length > 10, { deadlineMs: 20_000, what: 'some keys' });
  expect((await call('DELETE', `/v1/tenants/${tenant}`)).status).toBe(204);
  // Its callers do not know of the deletion.
  await Promise.all(callers.map((caller) => caller.stop()));
  await work();
  await makeKey();
  return secrets;
}

describe('a tenant that is deleted under load from several processes', () => {
  it('leaves nothing, and none of its keys opens anything', async () => {
    const secrets: string[] = [];
    const names = Array.from({ length: TENANTS }, (_, number) => `gone-${number}`);
    const live = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) secrets.push(...(await liveAndEnd(name)));
    };
    await Promise.all(Array.from({ length: TOGETHER }, () => live()));
    expect(secrets.length).toBeGreaterThan(TENANTS * 10);

    for (let from = 0; from < secrets.length; from += 50) {
      const answers = await Promise.all(secrets.slice(from, from + 50).map((key) => call('GET', '/v1/sessions/s1', { key })));
      expect(answers.filter(({ status }) => status !== 401).map(({ status, body }) => [status, body.code])).toEqual([]);
    }
    await expect.poll(() => tracesOf('gone-'), { timeout: 30_000, interval: 500 }).toEqual([]);
  }, 180_000);

  it('has nothing in common with a later one of its name', async () => {
    await fleet.client.make('/v1/tenants', { id: 'twice' });
    const before = (await fleet.client.make('/v1/tenants/twice/keys', { name: 'k', scopes: ['admin'] })).secret;
    const asked = {
      body: { agent: 'work', input: 'x', context: { workMs: [60_000] }, session: 's' },
      headers: { 'idempotency-key': 'same' },
    };
    const earlier = await call('POST', '/v1/tasks', { key: before, ...asked });
    expect(earlier.status).toBe(202);
    await fleet.client.reaches(earlier.body.id, ['running'], { key: before });
    expect((await call('DELETE', '/v1/tenants/twice')).status).toBe(204);

    await fleet.client.make('/v1/tenants', { id: 'twice' });
    const after = (await fleet.client.make('/v1/tenants/twice/keys', { name: 'k', scopes: ['admin'] })).secret;
    expect((await call('GET', '/v1/tasks', { key: before })).status).toBe(401);
    expect((await call('GET', '/v1/tasks', { key: after })).body.items).toEqual([]);
    const later = await call('POST', '/v1/tasks', { key: after, ...asked });
    // Neither the idempotency key nor the lane of the earlier one.
    expect(later.status).toBe(202);
    expect(later.body.id).not.toBe(earlier.body.id);
    await fleet.client.reaches(later.body.id, ['running'], { key: after });
    expect((await call('GET', `/v1/tasks/${earlier.body.id}`, { key: after })).status).toBe(404);
    expect((await call('GET', `/v1/tasks/${later.body.id}`, { key: after })).body.tenant).toBe('twice');
    expect((await call('GET', '/v1/tenants')).body.items.map(({ id }: { id: string }) => id)).toContain('twice');
    expect((await call('GET', '/v1/tenants/twice/keys')).body.items).toMatchObject([{ tenant: 'twice' }]);
  }, 60_000);

  it('accepts nothing while it is disabled, from whatever asks', async () => {
    await fleet.client.make('/v1/tenants', { id: 'paused' });
    const key = (await fleet.client.make('/v1/tenants/paused/keys', { name: 'k', scopes: ['admin'] })).secret;
    expect((await call('PATCH', '/v1/tenants/paused', { body: { disabled: true } })).status).toBe(200);
    // The change applies without a notification of each process.
    for (const url of apis) {
      const answers = await Promise.all([
        call('POST', '/v1/tasks', { key, url, body: { agent: 'echo', input: 'x' } }),
        call('POST', '/v1/sessions/s/messages', { key, url, body: { text: 'hello' } }),
        call('POST', '/v1/schedules', { key, url, body: { every: '1h', agent: 'echo', message: 'x' } }),
      ]);
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array.from({ length: 3 }, () => [403, 'tenant.disabled']));
    }
    expect((await call('PATCH', '/v1/tenants/paused', { body: { disabled: false } })).status).toBe(200);
    await waitFor(async () => (await call('POST', '/v1/tasks', { key, body: { agent: 'echo', input: 'x' } })).status === 202, {
      deadlineMs: 20_000,
      what: 'it to be taken again',
    });
  }, 60_000);
});
