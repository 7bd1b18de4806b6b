import { beforeAll, describe, expect, it } from 'vitest';
import type { Hook } from '../../../services/webhooks/hook.ts';
import { HookStore } from '../../../services/webhooks/hook-store.ts';
import { trimTasks } from '../../../services/worker/chores/trim-tasks.ts';
import { useApi } from './support/use-api.ts';
import { UNREADABLE_STATE } from '../../shared/ledger/support/stored-states.ts';

const api = await useApi();
const { redis, keys } = api.parts;
const own = keys.tenant('default');
const make = async (path: string, body: object): Promise<string> => (await api.call('POST', path, { body })).body.id;

/** What each list has: one that can be read, and one that an older or newer process wrote. */
const good: Record<string, string> = {};
const bad: Record<string, string> = {};

/** A newer release's: of a kind that this one does not know. */
async function rewrite(hash: string, field: string, change: (text: string) => string): Promise<void> {
  await redis.hset(hash, field, change((await redis.hget(hash, field)) ?? ''));
}

beforeAll(async () => {
  for (const one of [good, bad]) {
    one['tasks'] = await make('/v1/tasks', { agent: 'echo', input: 'x', session: 's' });
    one['schedules'] = await make('/v1/schedules', { every: '1h', agent: 'echo', message: 'x' });
    one['agents'] = one === good ? 'fine' : 'newer';
    await api.call('PUT', `/v1/agents/${one['agents']}`, { body: { kind: 'echo' } });
    one['tenants/default/keys'] = await make('/v1/tenants/default/keys', { name: 'k', scopes: ['read'] });
    one['tenants'] = await make('/v1/tenants', { id: one === good ? 'fine' : 'newer' });
  }
  await redis.hset(own.states, bad['tasks'] ?? '', UNREADABLE_STATE);
  await redis.hset(own.schedules, bad['schedules'] ?? '', '1 2 {"kind":"lunar"}');
  await redis.hset(own.agents, 'newer', '{"kind":"quantum"}');
  for (const [digest, text] of Object.entries(await redis.hgetall(keys.fleet.apiKeys))) {
    if (text.includes(bad['tenants/default/keys'] ?? '-'))
      await rewrite(keys.fleet.apiKeys, digest, (key) => key.replace('"read"', '"teleport"'));
  }
  // Of whose tenant nobody can tell.
  await redis.hset(keys.fleet.apiKeys, 'torn', '{"id":');
  await rewrite(keys.fleet.tenants, 'newer', (text) => text.replace('"disabled":false', '"disabled":"perhaps"'));
});

describe('a list with a record that cannot be read', () => {
  it.each(['tasks', 'schedules', 'agents', 'tenants/default/keys', 'tenants'])('of %s has all others, and names it', async (list) => {
    const { status, body } = await api.call('GET', `/v1/${list}`);
    expect(status).toBe(200);
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain(good[list]);
    expect(ids).not.toContain(bad[list]);
    expect(body.unreadable).toEqual([{ id: bad[list], reason: expect.any(String) as string }]);
  });

  it('of deliveries has all others, and names it', async () => {
    for (const id of ['01JD0000000000000000000000-callback', '01JD0000000000000000000001-callback']) {
      await redis.zadd(own.deliveries, 0, `all/${id}`);
      await redis.set(own.delivery(id), '{"kind":"pigeon"}');
    }
    const { status, body } = await api.call('GET', '/v1/deliveries');
    expect([status, body.unreadable.length]).toEqual([200, 2]);
  });

  it('of hooks has all others, and names it', async () => {
    const store = new HookStore({ redis, keys, seal: api.parts.seal, maxHooksPerTenant: 10 });
    const hook = { tenant: 'default', name: null, provider: 'none', agent: 'echo' } as unknown as Hook;
    await redis.hset(own.hooks, '01JD0000000000000000000000', JSON.stringify({ ...hook, provider: 'newer' }));
    expect(await store.list('default', { limit: 10, cursor: null })).toMatchObject({
      hooks: [],
      unreadable: [{ id: '01JD0000000000000000000000' }],
    });
  });

  it('says nothing of it where all can be read', async () => {
    expect((await api.call('GET', '/v1/tasks?agent=echo&session=other')).body).toEqual({ items: [], nextCursor: null });
  });
});

describe('a record that cannot be read', () => {
  it.each(['tasks', 'agents', 'schedules'])('is said to be so, of %s', async (list) => {
    const { status, body } = await api.call('GET', `/v1/${list}/${bad[list]}`);
    expect([status, body.code]).toEqual([500, 'record.unreadable']);
    expect(body.detail).toContain(bad[list]);
  });

  it('stops nothing else, and is not taken for one that is gone', async () => {
    await trimTasks(api.parts);
    expect((await api.call('GET', '/v1/sessions/s/transcript')).status).toBe(200);
    expect((await api.call('GET', '/v1/sessions')).status).toBe(200);
    expect((await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x', session: 'else' } })).status).toBe(202);
    expect((await api.call('POST', '/v1/tasks', { body: { agent: 'newer', input: 'x' } })).body.code).toBe('record.unreadable');
    expect(await redis.hexists(own.states, bad['tasks'] ?? '')).toBe(1);
    expect((await api.call('GET', '/v1/tasks')).body.unreadable).toHaveLength(1);
  });
});
