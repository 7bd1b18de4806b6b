import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { createHubService } from '../../../../services/hub/create-hub-service.ts';
import { runMuster } from '../../cli/run-muster.ts';
import { OWN_PAGE, type RunningDashboard } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

const dashboard = await useDashboard(
  { limits: { signInPerMinute: 100 }, audit: { maxPerTenant: 1000 } },
  { more: (parts) => [createApiService(parts), createHubService(parts)] },
);
const { parts } = dashboard;
const { audit } = parts.settings;
const bounds = { ...audit };
const call: RunningDashboard['call'] = (...request) => dashboard.call(...request);

let admin: { id: string; secret: string };

beforeEach(async () => {
  await parts.redis.flushall();
  await parts.tenants.refresh();
  await parts.tenants.save({ id: 'acme', name: 'Acme', disabled: false, limits: null, createdAt: 0 });
  admin = await createKey(parts, { tenant: 'default', name: 'Ann', scopes: ['admin'] });
});
afterEach(() => {
  Object.assign(audit, bounds);
});

interface Entry {
  id: string;
  action: string;
  object: string | null;
  outcome: string;
  actor: { id: string; name: string };
}
interface Listed {
  items: Entry[];
  nextCursor: string | null;
}

const send = (method: string, path: string, json?: unknown, secret = admin.secret): Promise<Response> =>
  call(method, path, { ...(json === undefined ? {} : { json }), headers: { authorization: `Bearer ${secret}` } });
const read = async (query = '', secret = admin.secret): Promise<Listed> =>
  (await (await send('GET', `/v1/audit${query}`, undefined, secret)).json()) as Listed;
/** Newest first. */
const actions = async (query = ''): Promise<string[]> => (await read(query)).items.map(({ action, object }) => `${action} ${object}`);

describe('a change is an entry', () => {
  it('of a program, of the console and of a command, with who, what, from where and which fields', async () => {
    await send('PUT', '/v1/agents/writer', { kind: 'http', url: 'https://writer.example.com/run', secret: 'a-secret-of-a-writer' });
    const { items } = await read();
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^\d+-\d+$/),
        at: expect.stringMatching(/Z$/),
        actor: { kind: 'key', id: admin.id, name: 'Ann', tenant: null },
        via: 'api',
        from: '127.0.0.1',
        action: 'putAgent',
        actionText: 'made or replaced an agent',
        object: 'agents/writer',
        fields: ['kind', 'url', 'secret'],
        outcome: 'done',
        code: null,
      },
    ]);
    const cookie = await dashboard.signIn(['operate']);
    await call('PUT', '/v1/agents/writer', { cookie, json: { kind: 'echo' }, headers: OWN_PAGE });
    const env = { MUSTER_URL: dashboard.url, MUSTER_API_KEY: admin.secret };
    await runMuster(['agents', 'delete', 'writer'], { env });
    expect((await runMuster(['audit', '--q', 'removed an AGENT'], { env })).stdout).toContain('removed an agent');
    expect(await actions(`?q=${encodeURIComponent('removed an agent')}`)).toEqual(['deleteAgent agents/writer']);
    expect((await read()).items).toMatchObject([
      { action: 'deleteAgent', via: 'cli', object: 'agents/writer' },
      { action: 'putAgent', via: 'console', actor: { name: 'test' } },
      { action: 'signIn', via: 'sign-in', object: null },
      { via: 'api' },
    ]);
  });

  it('on the object that was made, or that was acted upon', async () => {
    const daemon = (await (await send('POST', '/v1/daemons', { name: 'laptop' })).json()) as { id: string; token: string };
    const key = (await (await send('POST', '/v1/tenants/acme/keys', { name: 'ci', scopes: ['read'] })).json()) as {
      id: string;
      secret: string;
    };
    await send('POST', `/v1/daemons/${daemon.id}/rotate`);
    await send('POST', '/v1/queues/chat/pause');
    await send('PUT', '/v1/sessions/room/mode', { mode: 'reject' });
    expect(await actions()).toEqual([
      'setSessionMode sessions/room',
      'pauseQueue queues/chat',
      `rotateDaemonToken daemons/${daemon.id}`,
      `createKey tenants/acme/keys/${key.id}`,
      `createDaemon daemons/${daemon.id}`,
    ]);
    const stored = JSON.stringify(await parts.redis.xrange(parts.keys.tenant('default').audit, '-', '+'));
    for (const secret of [daemon.token, key.secret, admin.secret]) expect(stored).not.toContain(secret);
  });

  it('by commands of a conversation, and on the board', async () => {
    await send('POST', '/v1/sessions/room/messages', { text: '/stop', user: 'U1' });
    await send('POST', '/v1/sessions/room/messages', { text: '/status', user: 'U1' });
    expect((await read()).items).toMatchObject([
      { action: 'chatStop', via: 'chat', from: 'webchat', object: 'sessions/room', actor: { kind: 'key', id: admin.id, name: 'U1' } },
    ]);
    const cookie = await dashboard.signIn(['admin']);
    await call('PUT', '/board/api/queues/tasks/pause', { cookie, headers: OWN_PAGE });
    await expect.poll(() => actions('?action=boardPause'), { timeout: 10_000 }).toEqual(['boardPause queues/tasks']);
  });

  it('when it was refused, by its code, ten a minute for one caller', async () => {
    const { secret } = await createKey(parts, { tenant: 'default', name: 'reader', scopes: ['read'] });
    await send('POST', '/v1/queues/chat/pause', undefined, secret);
    await send('DELETE', '/v1/agents/nobody');
    expect((await read()).items).toMatchObject([
      { action: 'deleteAgent', outcome: 'refused', code: 'agent.not-found', fields: [] },
      { action: 'pauseQueue', outcome: 'refused', code: 'auth.forbidden', actor: { name: 'reader' } },
    ]);
    // A minute may end meanwhile, and begin a second ten.
    for (let time = 0; time < 40; time += 1) await send('POST', '/v1/queues/chat/pause', undefined, secret);
    const { items } = await read('?who=reader&limit=200');
    expect(items.length).toBeGreaterThanOrEqual(10);
    expect(items.length).toBeLessThanOrEqual(20);
  });

  it('and reads, previews, new tasks and messages are none, unless work is audited too', async () => {
    await send('GET', '/v1/tasks');
    await send('POST', '/v1/tasks', { agent: 'echo', input: 'hi' });
    await send('POST', '/v1/schedules/preview', { every: '1h' });
    expect(await actions()).toEqual([]);
    audit.work = true;
    const { id } = (await (await send('POST', '/v1/tasks', { agent: 'echo', input: 'hi' })).json()) as { id: string };
    expect(await actions()).toEqual([`submitTask tasks/${id}`]);
  });

  it('of signing in by a key and a link, and of signing out; guesses are none', async () => {
    await call('POST', '/sign-in', { form: { key: 'mk_guess' }, headers: OWN_PAGE });
    const { path } = (await (await send('POST', '/v1/sign-in-links')).json()) as { path: string };
    const used = await call('POST', '/sign-in/link', { form: { token: path.split('=')[1] ?? '' }, headers: OWN_PAGE });
    await call('POST', '/sign-out', { cookie: used.headers.get('set-cookie')?.split(';')[0] ?? '', headers: OWN_PAGE });
    expect(await actions()).toEqual(['signOut null', 'signInByLink null', 'createSignInLink sign-in-links']);
  });
});

describe('the log of a tenant', () => {
  it('has what was changed in it, and by administrators of the installation with their tenant', async () => {
    const { secret } = await createKey(parts, { tenant: 'acme', name: 'Bo', scopes: ['admin'] });
    await send('PUT', '/v1/agents/one', { kind: 'echo' }, secret);
    const headers = { authorization: `Bearer ${admin.secret}`, 'muster-tenant': 'acme' };
    await call('PUT', '/v1/agents/two', { json: { kind: 'echo' }, headers });
    expect(await actions()).toEqual([]);
    expect((await read('', secret)).items).toMatchObject([
      { object: 'agents/two', actor: { name: 'Ann', tenant: 'default' } },
      { object: 'agents/one', actor: { name: 'Bo', tenant: null } },
    ]);
    const reader = await createKey(parts, { tenant: 'acme', name: 'r', scopes: ['operate'] });
    expect((await send('GET', '/v1/audit', undefined, reader.secret)).status).toBe(403);
  });

  it('is searched by who, action, object, outcome, text and time, page by page', async () => {
    for (const id of ['a', 'b', 'c']) await send('PUT', `/v1/agents/${id}`, { kind: 'echo' });
    await send('DELETE', '/v1/agents/a');
    await send('DELETE', '/v1/agents/none');
    const all = (await read()).items;
    expect(all).toHaveLength(5);
    expect(await actions('?action=deleteAgent&outcome=done')).toEqual(['deleteAgent agents/a']);
    expect(await actions('?object=agents/b')).toEqual(['putAgent agents/b']);
    expect(await actions('?q=NOT-FOUND')).toEqual(['deleteAgent agents/none']);
    expect(await actions(`?who=${admin.id}`)).toHaveLength(5);
    expect(await actions('?who=an')).toHaveLength(5);
    expect(await actions('?who=nobody')).toEqual([]);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    expect(await actions(`?since=${tomorrow}`)).toEqual([]);
    expect(await actions(`?until=${tomorrow}`)).toHaveLength(5);
    const first = await read('?limit=2');
    const second = await read(`?limit=3&cursor=${first.nextCursor}`);
    expect([...first.items, ...second.items]).toEqual(all);
    expect(second.nextCursor).toBeNull();
    expect((await send('GET', '/v1/audit?cursor=x')).status).toBe(422);
  });

  it('is exported as lines, by the API and by the command', async () => {
    for (const id of ['a', 'b']) await send('PUT', `/v1/agents/${id}`, { kind: 'echo' });
    const answer = await send('GET', '/v1/audit?format=ndjson&object=agents/');
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    const lines = (await answer.text()).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Entry).object)).toEqual(['agents/b', 'agents/a']);
    const env = { MUSTER_URL: dashboard.url, MUSTER_API_KEY: admin.secret };
    const { stdout } = await runMuster(['audit', '--export', '--object', 'agents/'], { env });
    expect(stdout.trimEnd().split('\n')).toEqual(lines);
    expect((await runMuster(['audit', '--limit', '1'], { env })).stdout).toMatch(
      /made or replaced an agent +agents\/b +done +api +127\.0\.0\.1/,
    );
  });

  it('is bounded by count and by age, also in Redis', async () => {
    audit.maxPerTenant = 2;
    for (const id of ['a', 'b', 'c']) await send('PUT', `/v1/agents/${id}`, { kind: 'echo' });
    expect(await actions()).toEqual(['putAgent agents/c', 'putAgent agents/b']);
    const key = parts.keys.tenant('default').audit;
    expect(await parts.redis.pttl(key)).toBeGreaterThan(0);
    await parts.redis.del(key);
    await parts.redis.xadd(key, '1-0', 'entry', JSON.stringify({}));
    await send('PUT', '/v1/agents/d', { kind: 'echo' });
    expect(await actions()).toEqual(['putAgent agents/d']);
  });

  it('ends with its tenant', async () => {
    const { secret } = await createKey(parts, { tenant: 'acme', name: 'Bo', scopes: ['admin'] });
    await send('PUT', '/v1/agents/one', { kind: 'echo' }, secret);
    await send('DELETE', '/v1/tenants/acme');
    expect(await actions()).toEqual(['deleteTenant tenants/acme']);
    expect(await parts.redis.keys('*acme*audit')).toEqual([]);
  });
});
