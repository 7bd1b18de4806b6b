import { afterEach, describe, expect, it } from 'vitest';
import { type DaemonState, findDaemonByToken, type Registration, removeDaemonState, writeDaemonStates } from '#shared/daemons/index.ts';
import { publicTenantId } from '#shared/tenants/tenant.ts';
import type { Reply } from '../../../support/call-api.ts';
import { daemonState } from '../../../support/daemons/daemon-state.ts';
import { OFFLINE_DAEMON } from '../../../support/daemons/offline-daemon.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ hub: { maxDaemonsPerTenant: 3 } });
const { parts } = api;

afterEach(async () => {
  const { daemons, daemonNames, daemonTokens, daemonStates } = parts.keys.fleet;
  await parts.redis.del(daemonTokens, daemonStates, ...['default', 'acme'].flatMap((tenant) => [daemons(tenant), daemonNames(tenant)]));
});

const register = async (body: Partial<Registration> = {}, key = api.key): Promise<Reply> =>
  await api.call('POST', '/v1/daemons', { body: { name: 'laptop', ...body }, key });

const STATE = daemonState({
  capabilities: ['gpu'],
  running: 1,
  tasks: ['task-1'],
  load: 0.5,
  memoryMb: 900,
  version: '1.2.3',
  host: 'adas-laptop',
  connectedAt: Date.UTC(2026, 4, 1),
  beatAt: 0,
});

/** A task with this target, which gets the same answer as one of many. */
const send = async (targetDaemon: string, excluded: string): Promise<Reply> => {
  const task = { agent: 'echo', input: 'hello', requirements: { targetDaemon, excludedDaemons: ['other', excluded] } };
  const { items } = (await api.call('POST', '/v1/tasks/bulk', { body: { items: [task] } })).body;
  const single = await api.call('POST', '/v1/tasks', { body: task });
  expect(items[0].httpStatus).toBe(single.status);
  return single;
};

const connect = async (id: string, state: Partial<DaemonState> = {}, tenant = 'default'): Promise<void> => {
  await writeDaemonStates(parts, [{ tenant, id, state: { ...STATE, ...state }, isFirst: true }]);
};

describe('a daemon', () => {
  it('is registered with a token that is shown once, and opens what its person decided', async () => {
    const { status, body } = await register({ user: 'ada', capabilities: ['gpu'], slots: 2 });
    expect(status).toBe(201);
    const { token, ...view } = body;
    expect(view).toEqual({
      ...OFFLINE_DAEMON,
      id: expect.stringMatching(/^dmn_[\da-f]{20}$/),
      user: 'ada',
      capabilities: ['gpu'],
      slots: 2,
      createdAt: expect.stringMatching(/^20.*Z$/),
    });
    expect(await findDaemonByToken(parts, token)).toMatchObject({ id: view.id, tenant: 'default', user: 'ada', capabilities: ['gpu'] });
    expect((await api.call('GET', `/v1/daemons/${view.id}`)).body).toEqual(view);
    expect((await api.call('GET', '/v1/daemons')).body).toEqual({ items: [view], nextCursor: null });
  });

  it('shows what its hub knows of it, and once it is offline what was known last', async () => {
    const { id } = (await register()).body;
    await connect(id);
    const { body } = await api.call('GET', `/v1/daemons/${id}`);
    const last = { host: 'adas-laptop', version: '1.2.3', memoryMb: 900, offers: { capabilities: ['gpu'], slots: 2, agents: null } };
    const lastBeatAt = expect.stringMatching(/^20.*Z$/) as string;
    const live = { status: 'online', running: 1, load: 0.5, hub: 'hub-1', connectedAt: '2026-05-01T00:00:00.000Z', tasks: ['task-1'] };
    expect(body).toMatchObject({ ...last, ...live, lastBeatAt });
    await connect(id, { running: 2 });
    expect((await api.call('GET', '/v1/daemons')).body.items[0].status).toBe('busy');
    await removeDaemonState(parts, { tenant: 'default', id, connection: STATE.connection });
    const gone = { status: 'offline', running: 0, load: null, hub: null, connectedAt: null, tasks: [] };
    expect((await api.call('GET', `/v1/daemons/${id}`)).body).toMatchObject({ ...last, ...gone, lastBeatAt });
  });

  it('whose hub is gone is offline', async () => {
    const { id } = (await register()).body;
    await parts.redis.hset(parts.keys.fleet.daemonStates, `default/${id}`, `1 hub-1:1 ${JSON.stringify(STATE)}`);
    const gone = { status: 'offline', hub: null, lastBeatAt: '1970-01-01T00:00:00.001Z' };
    expect((await api.call('GET', `/v1/daemons/${id}`)).body).toMatchObject(gone);
  });

  it('keeps what a change does not name', async () => {
    const { id } = (await register({ capabilities: ['gpu'] })).body;
    const changed = await api.call('PATCH', `/v1/daemons/${id}`, { body: { slots: 4 } });
    expect(changed).toMatchObject({ status: 200, body: { name: 'laptop', capabilities: ['gpu'], slots: 4 } });
    const nulled = await api.call('PATCH', `/v1/daemons/${id}`, { body: { capabilities: null } });
    expect(nulled.body).toMatchObject({ capabilities: null, slots: 4 });
  });

  it('that is disabled has a token that opens nothing, until it is enabled', async () => {
    const { id, token } = (await register()).body;
    expect((await api.call('PATCH', `/v1/daemons/${id}`, { body: { enabled: false } })).body.enabled).toBe(false);
    expect(await findDaemonByToken(parts, token)).toBeNull();
    await api.call('PATCH', `/v1/daemons/${id}`, { body: { enabled: true } });
    expect((await findDaemonByToken(parts, token))?.id).toBe(id);
  });

  it('gets another token, and its former one opens nothing', async () => {
    const { id, token } = (await register()).body;
    const rotated = await api.call('POST', `/v1/daemons/${id}/rotate`);
    expect(rotated).toMatchObject({ status: 200, body: { id, token: expect.stringMatching(/^md_[\w-]{43}$/) } });
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect((await findDaemonByToken(parts, rotated.body.token))?.id).toBe(id);
  });

  it.each(['Ann’s MacBook Pro', 'MacBook Pro (2)', '[lab] gpu-3', 'DESKTOP-8F3K2Q1', 'büro+küche #2', 'host:2222', '山田のMac', '👩‍💻 box'])(
    'is called what its machine is called: %s',
    async (name) => {
      const { status, body } = await register({ name });
      expect(status).toBe(201);
      expect((await api.call('GET', `/v1/daemons/${body.id}`)).body.name).toBe(name);
    },
  );

  it('is no target of a task that excludes it, by its name or its id', async () => {
    const { id, name } = (await register({ name: 'Ann’s MacBook Pro' })).body;
    for (const [target, excluded] of [
      [name, id],
      [id, name],
      [id, id],
      [name, name],
    ])
      expect((await send(target, excluded)).body).toMatchObject({
        status: 422,
        code: 'request.invalid',
        details: { targetDaemon: target },
      });
    expect((await send(id, 'desk')).status).toBe(202);
  });

  it('that is removed is gone with its token', async () => {
    const { id, token } = (await register()).body;
    await connect(id);
    expect((await api.call('DELETE', `/v1/daemons/${id}`)).status).toBe(204);
    expect((await api.call('DELETE', `/v1/daemons/${id}`)).body).toMatchObject({ status: 404, code: 'daemon.not-found' });
    expect(await findDaemonByToken(parts, token)).toBeNull();
    expect(await parts.redis.hlen(parts.keys.fleet.daemonStates)).toBe(0);
  });

  it('has a name of its own in its tenant', async () => {
    await register();
    expect((await register()).body).toMatchObject({ status: 409, code: 'daemon.name-taken' });
    const { id } = (await register({ name: 'desk' })).body;
    expect((await api.call('PATCH', `/v1/daemons/${id}`, { body: { name: 'laptop' } })).body.code).toBe('daemon.name-taken');
    expect((await register({}, await api.keyOf('acme', ['operate']))).status).toBe(201);
  });

  it('is one of at most hub.maxDaemonsPerTenant', async () => {
    for (const name of ['a', 'b', 'c']) expect((await register({ name })).status).toBe(201);
    expect((await register({ name: 'd' })).body).toMatchObject({ status: 429, code: 'limit.daemons', details: { max: 3 } });
    expect((await register({ name: 'd' }, await api.keyOf('acme', ['operate']))).status).toBe(201);
  });

  it.each([
    ['without a name', { name: undefined }],
    ['with the name of an id', { name: 'dmn_x' }],
    ['with a field that there is not', { secret: 'x' }],
    ['with less than no slots', { slots: -1 }],
    ['with no slots', { slots: 0 }],
    ['with a name of two lines', { name: 'one\ntwo' }],
    ['with a name that begins with a space', { name: ' laptop' }],
    ['with a name of spaces', { name: '  ' }],
    ['with a name that is written backwards', { name: 'a\u202eb' }],
    ['with a name that is too long', { name: 'x'.repeat(65) }],
    ['with more slots than a daemon may have', { slots: 101 }],
    ['with a token of its own', { token: 'md_x' }],
    ['with capabilities that are none', { capabilities: [1] }],
    ['with a capability that no task can require', { capabilities: ['a gpu'] }],
    ['with more capabilities than fit', { capabilities: Array.from({ length: 101 }, (_, n) => `c${n}`) }],
  ])('%s is refused', async (_what, body) => {
    expect((await register(body as Partial<Registration>)).body).toMatchObject({ status: 422, code: 'request.invalid' });
  });
});

describe('keys', () => {
  it('of another tenant find no daemon of this one', async () => {
    const { id } = (await register()).body;
    const key = await api.keyOf('acme', ['admin']);
    for (const [method, path, body] of [
      ['GET', `/v1/daemons/${id}`],
      ['PATCH', `/v1/daemons/${id}`, { enabled: false }],
      ['POST', `/v1/daemons/${id}/rotate`],
      ['DELETE', `/v1/daemons/${id}`],
    ] as const)
      expect((await api.call(method, path, { key, body })).body).toMatchObject({ status: 404, code: 'daemon.not-found' });
    expect((await api.call('GET', '/v1/daemons', { key })).body.items).toEqual([]);
    expect((await api.call('GET', `/v1/daemons/${id}`)).body.enabled).toBe(true);
  });

  it('need the scope operate to change daemons, and read to see them', async () => {
    const { id } = (await register()).body;
    const submitter = await api.keyOf('default', ['submit']);
    expect((await register({ name: 'b' }, submitter)).status).toBe(403);
    expect((await api.call('POST', `/v1/daemons/${id}/rotate`, { key: submitter })).status).toBe(403);
    expect((await api.call('PATCH', `/v1/daemons/${id}`, { key: submitter, body: {} })).status).toBe(403);
    expect((await api.call('DELETE', `/v1/daemons/${id}`, { key: submitter })).status).toBe(403);
    expect((await api.call('GET', '/v1/daemons', { key: await api.keyOf('default', ['read']) })).status).toBe(200);
  });

  it('are no daemon’s tokens', async () => {
    const { token } = (await register()).body;
    expect((await api.call('GET', '/v1/daemons', { key: token })).status).toBe(401);
    expect(await findDaemonByToken(parts, api.key)).toBeNull();
  });
});

it('a daemon goes with its tenant, and is none of a later tenant of that name', async () => {
  await api.call('POST', '/v1/tenants', { body: { id: 'leaving' } });
  const { secret } = (await api.call('POST', '/v1/tenants/leaving/keys', { body: { name: 'k', scopes: ['operate'] } })).body;
  const { id, token } = (await register({}, secret)).body;
  await connect(id, {}, 'leaving');
  expect((await api.call('DELETE', '/v1/tenants/leaving')).status).toBe(204);
  expect(await findDaemonByToken(parts, token)).toBeNull();
  expect(await parts.redis.hlen(parts.keys.fleet.daemonStates)).toBe(0);
  await api.call('POST', '/v1/tenants', { body: { id: 'leaving' } });
  const again = (await api.call('POST', '/v1/tenants/leaving/keys', { body: { name: 'k', scopes: ['operate'] } })).body.secret;
  expect((await api.call('GET', '/v1/daemons', { key: again })).body.items).toEqual([]);
  const other = await findDaemonByToken(parts, (await register({}, again)).body.token);
  expect(publicTenantId(other?.tenant ?? '')).toBe('leaving');
});
