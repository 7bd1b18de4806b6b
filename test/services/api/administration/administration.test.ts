import { describe, expect, it } from 'vitest';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const api = await useApi();

const put = (id: string, body: unknown, key = api.key): Promise<Reply> => api.call('PUT', `/v1/agents/${id}`, { body, key });

describe('agents', () => {
  const http = {
    kind: 'http',
    url: 'https://user:pw@example.com/run?token=t',
    secret: 'whsec_c2VjcmV0LXNlY3JldA==',
    headers: { 'x-key': 'header-secret' },
  };

  it('are made, read, replaced and removed by the tenant that owns them', async () => {
    expect((await put('mine', http)).status).toBe(201);
    expect((await put('mine', { ...http, description: 'Mine' })).status).toBe(200);
    expect((await api.call('GET', '/v1/agents/mine')).body).toMatchObject({
      id: 'mine',
      origin: 'api',
      kind: 'http',
      description: 'Mine',
      hasSecret: true,
    });
    const other = await api.keyOf('other', ['operate']);
    expect((await api.call('GET', '/v1/agents/mine', { key: other })).body.code).toBe('agent.not-found');
    expect((await api.call('DELETE', '/v1/agents/mine', { key: other })).status).toBe(404);
    expect((await api.call('DELETE', '/v1/agents/mine')).status).toBe(204);
    expect((await api.call('DELETE', '/v1/agents/mine')).status).toBe(404);
  });

  it('take their failures in a row with them when they are removed', async () => {
    const { redis, keys } = api.parts;
    const { failing } = keys.tenant('default');
    await put('mine', http);
    await redis.hset(failing, 'mine', JSON.stringify({ failures: 3, code: 'NETWORK_ERROR', task: 'none' }), 'other', '{}');
    expect((await api.call('DELETE', '/v1/agents/mine')).status).toBe(204);
    expect(await redis.hkeys(failing)).toEqual(['other']);
    await redis.del(failing);
  });

  it('show no secret, header, environment, command, or password in an address', async () => {
    await put('mine', http);
    const { body } = await api.call('GET', '/v1/agents');
    const text = JSON.stringify(body);
    for (const secret of ['sk-very-secret', 'whsec_', 'header-secret', 'secret-argument', 'secret-environment', 'pass', 'pw@', 'token='])
      expect(text).not.toContain(secret);
    expect(body.items.map(({ id, origin }: { id: string; origin: string }) => `${id} ${origin}`)).toEqual([
      'echo config',
      'hidden config',
      'mine api',
      'shell config',
    ]);
  });

  it('that run code, and those of the configuration, are the operator’s', async () => {
    for (const body of [
      { kind: 'command', command: ['id'] },
      { kind: 'function', file: './x.ts' },
    ]) {
      expect((await put('own', body)).body).toMatchObject({ status: 403, code: 'agent.operator-only' });
    }
    expect((await put('echo', { kind: 'echo' })).body.code).toBe('agent.operator-only');
    expect((await api.call('DELETE', '/v1/agents/echo')).body.code).toBe('agent.operator-only');
  });

  it.each([
    ['another kind', { kind: 'shell' }],
    ['no kind', {}],
    ['a field of another kind', { kind: 'echo', url: 'https://example.com' }],
    ['an address that is none', { kind: 'http', url: 'file:///etc/passwd' }],
    ['an address of a model that is none', { kind: 'openai', model: 'm', baseUrl: 'file:///etc' }],
    ['the name of a variable of this process', { kind: 'openai', model: 'm', apiKeyEnv: 'MUSTER_ADMIN_KEY' }],
  ])('with %s are refused', async (_what, body) => {
    expect((await put('wrong', body)).body).toMatchObject({ status: 422, code: 'request.invalid' });
  });

  it('have names that fit, and need the scope operate', async () => {
    expect((await put('UPPER', { kind: 'echo' })).status).toBe(422);
    expect((await put('x', { kind: 'echo' }, await api.keyOf('default', ['submit']))).status).toBe(403);
  });
});

const queueOf = async (name: string): Promise<Record<string, unknown>> =>
  (await api.call('GET', '/v1/queues')).body.items.find((queue: { name: string }) => queue.name === name);

describe('queues', () => {
  it('say how much waits, for how long, and who serves them', async () => {
    expect(await queueOf('webhooks')).toEqual({
      name: 'webhooks',
      paused: false,
      carriesTasks: true,
      waiting: 0,
      forSlot: 0,
      held: 0,
      forDaemon: 0,
      parked: 0,
      tickets: 0,
      ready: 0,
      prioritized: 0,
      delayed: 0,
      active: 0,
      completed: 0,
      failed: 0,
      workers: 0,
      slots: 0,
      oldestWaitingAgeMs: null,
    });
    await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'old', priority: 3 } });
    await waitFor(async () => (await queueOf('tasks'))['prioritized'] === 1, { deadlineMs: 3000, what: 'the first ticket' });
    const before = Date.now();
    await waitFor(() => Date.now() - before > 50, { deadlineMs: 1000, what: 'time to pass' });
    await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'new', priority: 9 } });
    await waitFor(async () => (await queueOf('tasks'))['prioritized'] === 2, { deadlineMs: 3000, what: 'the second ticket' });
    expect(await queueOf('tasks')).toMatchObject({ waiting: 2, tickets: 2, ready: 0 });
    // The first in line is the newer one; the older one has waited longest.
    expect((await queueOf('tasks'))['oldestWaitingAgeMs']).toBeGreaterThan(50);
  });

  it('are paused and resumed', async () => {
    expect((await api.call('POST', '/v1/queues/chat/pause')).body).toEqual({ name: 'chat', paused: true });
    expect(await queueOf('chat')).toMatchObject({ paused: true });
    await api.call('POST', '/v1/queues/chat/resume');
    expect(await queueOf('chat')).toMatchObject({ paused: false });
    expect((await api.call('POST', '/v1/queues/nothing/pause')).body.code).toBe('queue.not-found');
  });

  it('are the whole fleet’s: no key of another tenant sees or stops them', async () => {
    const key = await api.keyOf('other', ['admin']);
    expect((await api.call('POST', '/v1/queues/chat/pause', { key })).status).toBe(403);
    expect((await api.call('GET', '/v1/queues', { key })).status).toBe(403);
    expect(await queueOf('chat')).toMatchObject({ paused: false });
  });
});

describe('tenants', () => {
  it('are made once, changed, and disabled with all their keys', async () => {
    expect(await api.call('POST', '/v1/tenants', { body: { id: 'acme', name: 'Acme' } })).toMatchObject({
      status: 201,
      body: { id: 'acme', disabled: false, limits: null },
    });
    expect((await api.call('POST', '/v1/tenants', { body: { id: 'acme' } })).body.code).toBe('tenant.exists');
    expect((await api.call('POST', '/v1/tenants', { body: { id: 'default' } })).body.code).toBe('tenant.exists');
    expect((await api.call('GET', '/v1/tenants')).body.items.map(({ id }: { id: string }) => id)).toEqual(['acme', 'default']);

    const made = await api.call('POST', '/v1/tenants/acme/keys', { body: { name: 'robot', scopes: ['submit'] } });
    expect(made.status).toBe(201);
    const key = made.body.secret;
    const submit = (): Promise<Reply> => api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'a' }, key });
    expect((await submit()).status).toBe(202);

    expect((await api.call('PATCH', '/v1/tenants/acme', { body: { disabled: true, limits: { running: 2 } } })).body).toMatchObject({
      disabled: true,
      limits: { running: 2 },
    });
    expect((await submit()).body).toMatchObject({ status: 403, code: 'tenant.disabled' });
    expect((await api.call('PATCH', '/v1/tenants/acme', { body: { disabled: false, limits: null } })).body).toMatchObject({
      name: 'Acme',
      disabled: false,
      limits: null,
    });
    expect((await submit()).status).toBe(202);
  });

  it('keep the limits that a change does not name', async () => {
    await api.call('POST', '/v1/tenants', {
      body: { id: 'limited', limits: { running: 4, rates: { user: { perMinute: 10, perHour: 100 } } } },
    });
    const patch = async (limits: object | null): Promise<Reply['body']> =>
      (await api.call('PATCH', '/v1/tenants/limited', { body: { limits } })).body.limits;
    const rates = { user: { perMinute: 10, perHour: 100 } };
    expect(await patch({ waiting: 7 })).toMatchObject({ running: 4, waiting: 7, rates });
    expect(await patch({ runningByClass: { user: 2 } })).toMatchObject({
      running: 4,
      runningByClass: { proactive: 10, user: 2, webhook: 5 },
    });
    expect(await patch({ runningByAgent: { echo: 2, slow: 3 } })).toMatchObject({ runningByAgent: { echo: 2, slow: 3 } });
    expect(await patch({ runningByAgent: { slow: null } })).toMatchObject({ runningByAgent: { echo: 2 } });
    expect(await patch({ runningByClass: { user: null }, runningLow: null })).toMatchObject({ waiting: 7, runningLow: null });
    const { body } = await api.call('GET', '/v1/tenants/limited');
    expect(body.limits.runningByClass).toEqual({ proactive: 10, webhook: 5 });
    expect(await patch(null)).toBeNull();
    expect(await patch({ running: 3 })).toMatchObject({ running: 3, waiting: 100 });
    expect((await api.call('PATCH', '/v1/tenants/limited', { body: { limits: { runing: 3 } } })).status).toBe(422);
  });

  it('lose none of the changes that come at the same time', async () => {
    await api.call('POST', '/v1/tenants', { body: { id: 'busy' } });
    const changes = [
      { name: 'Busy' },
      { disabled: true },
      { limits: { running: 4 } },
      { limits: { waiting: 9 } },
      { limits: { runningLow: 2 } },
    ];
    const answers = await Promise.all(changes.map((body) => api.call('PATCH', '/v1/tenants/busy', { body })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { body } = await api.call('GET', '/v1/tenants/busy');
    expect(body).toMatchObject({ name: 'Busy', disabled: true, limits: { running: 4, waiting: 9, runningLow: 2 } });
  });

  it('have keys that are listed without their secret and end at once when revoked', async () => {
    const made = (await api.call('POST', '/v1/tenants/default/keys', { body: { name: 'short', scopes: ['read'] } })).body;
    const listed = await api.call('GET', '/v1/tenants/default/keys');
    expect(listed.body.items.map(({ id }: { id: string }) => id)).toContain(made.id);
    expect(JSON.stringify(listed.body)).not.toContain('secret');
    expect((await api.call('GET', '/v1/tasks', { key: made.secret })).status).toBe(200);
    expect((await api.call('DELETE', `/v1/tenants/acme/keys/${made.id}`)).body.code).toBe('key.not-found');
    expect((await api.call('DELETE', `/v1/tenants/default/keys/${made.id}`)).status).toBe(204);
    expect((await api.call('GET', '/v1/tasks', { key: made.secret })).status).toBe(401);
  });

  it('are reached by administrators of the installation; others reach the keys of their own', async () => {
    const key = await api.keyOf('acme', ['admin']);
    const own = await api.call('POST', '/v1/tenants/acme/keys', { key, body: { name: 'own', scopes: ['read'] } });
    expect([own.status, own.body.tenant]).toEqual([201, 'acme']);
    for (const [method, path, body] of [
      ['POST', '/v1/tenants/default/keys', { name: 'x', scopes: ['admin'] }],
      ['GET', '/v1/tenants/default/keys', undefined],
      ['GET', '/v1/tenants', undefined],
      ['POST', '/v1/tenants', { id: 'more' }],
      ['PATCH', '/v1/tenants/acme', { limits: null }],
    ] as const) {
      expect([path, (await api.call(method, path, { key, ...(body ? { body } : {}) })).status]).toEqual([path, 403]);
    }
    expect((await api.call('GET', '/v1/tenants', { key: await api.keyOf('default', ['operate']) })).status).toBe(403);
  });

  it('are refused when they do not fit, are not there, or would lock everybody out', async () => {
    expect((await api.call('POST', '/v1/tenants', { body: { id: '../x' } })).status).toBe(422);
    expect((await api.call('POST', '/v1/tenants', { body: '{"id":"__proto__"}' })).status).toBe(422);
    expect((await api.call('GET', '/v1/tenants/nobody')).body.code).toBe('tenant.not-found');
    expect((await api.call('POST', '/v1/tenants/nobody/keys', { body: { name: 'x', scopes: ['read'] } })).body.code).toBe(
      'tenant.not-found',
    );
    expect((await api.call('PATCH', '/v1/tenants/default', { body: { disabled: true } })).status).toBe(422);
    expect((await api.call('POST', '/v1/tenants/default/keys', { body: { name: 'x', scopes: ['root'] } })).status).toBe(422);
  });
});

interface Operation {
  summary: string;
  tags: string[];
  responses: Record<string, unknown>;
}

describe('the documentation', () => {
  it('gives each operation a summary, a tag and its problems', async () => {
    const document = (await api.call('GET', '/openapi.json', { key: null })).body;
    const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    expect(operations.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'post /v1/tasks',
        'get /v1/tasks/{id}/stream',
        'delete /v1/tenants/{id}/keys/{keyId}',
        'put /v1/agents/{id}',
      ]),
    );
    for (const { name, operation } of operations) {
      expect([name, typeof operation.summary, operation.tags.length, Object.keys(operation.responses).length > 1]).toEqual([
        name,
        'string',
        1,
        true,
      ]);
    }
    expect(document.components.schemas.Task.properties).toHaveProperty('correlationId');
    expect(JSON.stringify(document.paths['/v1/tasks'].post.parameters)).toContain('idempotency-key');
  });
});
