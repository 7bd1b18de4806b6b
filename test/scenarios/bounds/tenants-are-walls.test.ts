import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Reply } from '../../support/call-api.ts';

let fleet: Fleet;
let webhooksUrl: string;
let dashboardUrl: string;
let mine: FleetCall;
let theirs: FleetCall;
/** What tenant `theirs` has. */
let own: {
  task: string;
  failed: string;
  agent: string;
  hook: string;
  schedule: string;
  delivery: string;
  action: string;
  budget: string;
  daemon: string;
  question: string;
  erasure: string;
  keyId: string;
};

const ASKING = fileURLToPath(import.meta.resolve('../../support/agents/asking-agent.ts'));
const UNKNOWN_TASK = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

async function makeTenant(id: string): Promise<FleetCall & { keyId: string }> {
  await fleet.client.make('/v1/tenants', { id });
  const made = await fleet.client.make(`/v1/tenants/${id}/keys`, { name: 'all', scopes: ['admin'] });
  return { key: made.secret, keyId: made.id };
}

const budget = { scope: 'tenant', per: 'day', hardMicroUsd: 1_000_000 };

beforeAll(async () => {
  fleet = await openFleet({
    settings: { deliveries: { callbacks: { retryMs: [] } }, agents: { asks: { kind: 'function', file: ASKING } } },
  });
  await fleet.start('api');
  const starting = [fleet.start('webhooks'), fleet.start('dashboard'), fleet.start('worker'), fleet.start('chat')] as const;
  const [webhooks, dashboard] = await Promise.all(starting);
  webhooksUrl = webhooks.url;
  dashboardUrl = dashboard.url;
  mine = await makeTenant('mine');
  const { keyId, ...call } = await makeTenant('theirs');
  theirs = call;
  const agent = { kind: 'http', url: 'https://agents.example/run', headers: { 'x-secret': 'only theirs' } };
  await fleet.client.call('PUT', '/v1/agents/private', { ...theirs, body: agent });
  await fleet.client.call('PUT', '/v1/budgets/spend', { ...theirs, body: budget });
  const hook = await fleet.client.make('/v1/hooks', { provider: 'none', agent: 'private' }, { ...theirs, url: webhooksUrl });
  own = {
    task: await fleet.client.submit({ session: 'shared', context: { workMs: [120_000] } }, theirs),
    // No endpoint on this machine may be called, so its delivery fails.
    failed: await fleet.client.submit(
      { context: { failRuns: 9 }, execution: { maxAttempts: 1 }, callbackUrl: 'http://127.0.0.1:9/' },
      theirs,
    ),
    agent: 'private',
    hook: hook.id,
    budget: 'spend',
    daemon: (await fleet.client.make('/v1/daemons', { name: 'laptop' }, theirs)).id,
    schedule: (await fleet.client.make('/v1/schedules', { every: '1d', agent: 'work', message: 'x' }, theirs)).id,
    delivery: '',
    question: '',
    action: (await fleet.client.call('POST', '/v1/tasks/actions', { ...theirs, body: { action: 'retry', filter: { agent: 'nobody' } } }))
      .body.id,
    erasure: (await fleet.client.call('DELETE', '/v1/sessions/nobody?erase', theirs)).body.id,
    keyId,
  };
  await fleet.client.reaches(own.task, ['running'], theirs);
  await fleet.client.reaches(own.failed, ['permanently_failed'], theirs);
  const isFailed = async (): Promise<string | undefined> =>
    (await fleet.client.call('GET', '/v1/deliveries?status=failed', theirs)).body.items[0]?.id;
  await fleet.client.submit({ agent: 'asks', context: { ask: { question: 'Go on?', choices: ['yes', 'no'] } } }, theirs);
  const isAsked = async (): Promise<string | undefined> => (await fleet.client.call('GET', '/v1/questions', theirs)).body.items[0]?.id;
  own.question = await waitFor(isAsked, { deadlineMs: 20_000, everyMs: 50, what: 'the question' });
  own.delivery = await waitFor(isFailed, { deadlineMs: 20_000, everyMs: 50, what: 'the delivery to fail' });
});
afterAll(async () => {
  await fleet.stop();
});

/** Without what differs between two answers to the same question. */
function shapeOf({ status, body }: Reply, id: string): string {
  return JSON.stringify({ status, ...body, instance: null }).replaceAll(id, '<id>');
}

/** What a service documents, as `GET /v1/tasks/:id`. */
async function endpoints(url?: string): Promise<string[]> {
  const { body } = await fleet.client.call('GET', '/openapi.json', url === undefined ? {} : { url });
  return Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
}

describe('an id of another tenant', () => {
  type Ids = Record<
    | 'tasks'
    | 'failed'
    | 'agents'
    | 'hooks'
    | 'schedules'
    | 'deliveries'
    | 'actions'
    | 'budgets'
    | 'daemons'
    | 'findings'
    | 'questions'
    | 'erasures',
    string
  >;
  const calls = (ids: Ids): [method: string, path: string, id: string, body?: unknown][] => [
    ...[
      '',
      '/why',
      '/attempts',
      '/timeline',
      '/journal',
      '/tree',
      '/stream',
      '/deliveries',
      '/artifacts',
      '/artifacts/:name',
      '/attachments/:name',
    ].map((part) => ['GET', `/v1/tasks/${ids.tasks}${part}`, ids.tasks] as [string, string, string]),
    ['POST', `/v1/tasks/${ids.tasks}/cancel`, ids.tasks],
    ['POST', `/v1/tasks/${ids.failed}/retry`, ids.failed],
    ['POST', `/v1/tasks/${ids.tasks}/input`, ids.tasks, { text: 'x' }],
    ['POST', `/v1/deliveries/${ids.deliveries}/retry`, ids.deliveries],
    ['GET', `/v1/tasks/actions/${ids.actions}`, ids.actions],
    ['POST', `/v1/tasks/actions/${ids.actions}/cancel`, ids.actions],
    ['GET', `/v1/schedules/${ids.schedules}`, ids.schedules],
    ['GET', `/v1/schedules/${ids.schedules}/runs`, ids.schedules],
    ['POST', `/v1/schedules/${ids.schedules}/run`, ids.schedules],
    ['PATCH', `/v1/schedules/${ids.schedules}`, ids.schedules, { status: 'paused' }],
    ['POST', `/v1/schedules/${ids.schedules}/skip`, ids.schedules, { occurrence: '2026-06-01T07:00:00Z' }],
    ['POST', `/v1/schedules/${ids.schedules}/backfill`, ids.schedules, { since: '2026-05-01T00:00:00Z', until: '2026-05-02T00:00:00Z' }],
    ['DELETE', `/v1/schedules/${ids.schedules}`, ids.schedules],
    ['DELETE', `/v1/tasks/${ids.failed}`, ids.failed],
    ['GET', `/v1/tasks/${ids.tasks}/log`, ids.tasks],
    ['POST', `/v1/tasks/${ids.tasks}/priority`, ids.tasks, { priority: 1 }],
    ['GET', `/v1/tasks/${ids.tasks}/log`, ids.tasks],
    ['DELETE', `/v1/tasks/${ids.failed}`, ids.failed],
    ['POST', '/v1/tasks', ids.tasks, { agent: 'echo', input: 'x', parentTaskId: ids.tasks }],
    ['POST', '/v1/tasks', ids.agents, { agent: ids.agents, input: 'x' }],
    ['GET', `/v1/agents/${ids.agents}`, ids.agents],
    ['POST', `/v1/agents/${ids.agents}/pause`, ids.agents],
    ['POST', `/v1/agents/${ids.agents}/resume`, ids.agents],
    ['PATCH', `/v1/agents/${ids.agents}`, ids.agents, { description: 'mine' }],
    ['DELETE', `/v1/agents/${ids.agents}`, ids.agents],
    ['GET', `/v1/hooks/${ids.hooks}`, ids.hooks],
    ['PATCH', `/v1/hooks/${ids.hooks}`, ids.hooks, { enabled: false }],
    ['GET', `/v1/hooks/${ids.hooks}/deliveries`, ids.hooks],
    ['GET', `/v1/hooks/${ids.hooks}/deliveries/:delivery`, ids.hooks],
    ['POST', `/v1/hooks/${ids.hooks}/deliveries/:delivery/replay`, ids.hooks],
    ['POST', `/v1/hooks/${ids.hooks}/test`, ids.hooks, { event: 'ping', payload: {} }],
    ['DELETE', `/v1/hooks/${ids.hooks}`, ids.hooks],
    ['GET', `/v1/budgets/${ids.budgets}`, ids.budgets],
    ['DELETE', `/v1/budgets/${ids.budgets}`, ids.budgets],
    ['GET', `/v1/daemons/${ids.daemons}`, ids.daemons],
    ['PATCH', `/v1/daemons/${ids.daemons}`, ids.daemons, { enabled: false }],
    ['POST', `/v1/daemons/${ids.daemons}/rotate`, ids.daemons],
    ['DELETE', `/v1/daemons/${ids.daemons}`, ids.daemons],
    ['GET', `/v1/erasures/${ids.erasures}`, ids.erasures],
    ['POST', `/v1/attention/${ids.findings}/acknowledge`, ids.findings],
    ['GET', `/v1/questions/${ids.questions}`, ids.questions],
    ['POST', `/v1/questions/${ids.questions}/answer`, ids.questions, { answer: 'yes' }],
  ];

  it('is answered like one that is not there, at every endpoint', async () => {
    const unknown = calls({
      tasks: UNKNOWN_TASK,
      failed: UNKNOWN_TASK,
      agents: 'nowhere',
      hooks: UNKNOWN_TASK,
      schedules: UNKNOWN_TASK,
      deliveries: `${UNKNOWN_TASK}-callback`,
      actions: UNKNOWN_TASK,
      budgets: 'nowhere',
      daemons: 'dmn_nowhere',
      findings: 'nothing.found',
      questions: `${UNKNOWN_TASK}.2.00000000`,
      erasures: UNKNOWN_TASK,
    });
    for (const [position, [method, path, id, body]] of calls({
      tasks: own.task,
      failed: own.failed,
      agents: own.agent,
      hooks: own.hook,
      schedules: own.schedule,
      deliveries: own.delivery,
      actions: own.action,
      budgets: own.budget,
      daemons: own.daemon,
      // As its delivery is.
      findings: 'delivery.failed',
      questions: own.question,
      erasures: own.erasure,
    }).entries()) {
      const url = path.startsWith('/v1/hooks') ? { url: webhooksUrl } : {};
      const [, unknownPath = '', unknownId = '', unknownBody] = unknown[position] ?? [];
      const answer = await fleet.client.call(method, path, { ...mine, ...url, body });
      expect([method, path, answer.status]).toEqual([method, path, path === '/v1/tasks' && id === own.agent ? 422 : 404]);
      const other = await fleet.client.call(method, unknownPath, { ...mine, ...url, body: unknownBody });
      expect(shapeOf(answer, id)).toBe(shapeOf(other, unknownId));
    }
    // Nothing of it did anything.
    expect((await fleet.client.call('GET', `/v1/schedules/${own.schedule}`, theirs)).body).toMatchObject({ status: 'active', runCount: 0 });
    expect((await fleet.client.call('GET', '/v1/deliveries?status=failed', theirs)).body.items).toHaveLength(1);
    expect((await fleet.client.call('GET', '/v1/attention', theirs)).body.items).toMatchObject([{ id: 'delivery.failed' }]);
    expect((await fleet.client.call('GET', `/v1/questions/${own.question}`, theirs)).body.status).toBe('open');
    expect((await fleet.client.task(own.task, theirs)).status).toBe('running');
    expect((await fleet.client.task(own.failed, theirs)).status).toBe('permanently_failed');
    expect(await fleet.client.call('GET', '/v1/agents/private', theirs)).toMatchObject({ status: 200, body: { hold: null } });
    expect((await fleet.client.call('GET', '/v1/budgets/spend', theirs)).body).toMatchObject(budget);
    expect((await fleet.client.call('GET', `/v1/daemons/${own.daemon}`, theirs)).body.enabled).toBe(true);
    expect((await fleet.client.call('GET', `/v1/hooks/${own.hook}`, { ...theirs, url: webhooksUrl })).body.enabled).toBe(true);
  });

  it('is not looked up in the fleet, which belongs to the default tenant', async () => {
    for (const [method, path] of fleetCalls('worker')) {
      expect([path, (await fleet.client.call(method, path, mine)).status]).toEqual([path, 403]);
    }
  });

  it('covers every endpoint that takes an id', async () => {
    const documented = [...(await endpoints()), ...(await endpoints(webhooksUrl))];
    const withId = documented.filter((path) => path.includes(':id') && !path.includes('/tenants'));
    const tested = calls({
      tasks: ':id',
      failed: ':id',
      agents: ':id',
      hooks: ':id',
      schedules: ':id',
      deliveries: ':id',
      actions: ':id',
      budgets: ':id',
      daemons: ':id',
      findings: ':id',
      questions: ':id',
      erasures: ':id',
    }).map(([method, path]) => `${method} ${path}`);
    // PUT makes an agent or a budget of one's own under the same name.
    const known = new Set([...tested, 'PUT /v1/agents/:id', 'PUT /v1/budgets/:id', 'POST /hooks/:id']);
    // People come from an identity provider, and the tests of its routes show the wall between their tenants.
    known.add('PATCH /v1/people/:id').add('DELETE /v1/people/:id/sign-ins');
    // The key of an attempt names its task; the scenario of checkpoints shows that it opens no other one.
    known.add('POST /v1/tasks/:id/checkpoint');
    // Its entries have numbers; the test of the route shows the wall.
    known.add('GET /v1/tasks/:id/journal/:seq');
    // A session is a name, and none is unknown; see below.
    known.add('DELETE /v1/sessions/:id').add('DELETE /v1/people/:id');
    for (const [method, path] of sessionCalls(':id')) known.add(`${method} ${path}`);
    for (const [method, path] of fleetCalls(':id')) known.add(`${method} ${path}`);
    expect(withId.length).toBeGreaterThan(10);
    expect(withId.filter((path) => !known.has(path))).toEqual([]);
  });
});

const fleetCalls = (id: string): [method: string, path: string][] => [
  ['GET', `/v1/fleet/${id}`],
  ['POST', `/v1/fleet/${id}/drain`],
];

const sessionCalls = (id: string): [method: string, path: string, body?: object][] => [
  ['GET', `/v1/sessions/${id}`],
  ['GET', `/v1/sessions/${id}/transcript`],
  ['POST', `/v1/sessions/${id}/stop`],
  ['PUT', `/v1/sessions/${id}/mode`, { mode: 'reject' }],
  ['POST', `/v1/sessions/${id}/messages`, { text: '/status' }],
  ['POST', `/v1/sessions/${id}/visitors`, {}],
  ['GET', `/v1/sessions/${id}/visitors`],
  ['DELETE', `/v1/sessions/${id}/visitors/:visitorId`],
  ['POST', `/v1/sessions/${id}/uploads`],
  ['GET', `/v1/sessions/${id}/stream`],
];

/** Those that answer at once, and the same each time. */
const readsOf = (id: string): [method: string, path: string, body?: object][] =>
  sessionCalls(id).filter(([, path]) => !/visitors|uploads|stream$/.test(path));

describe('a session of another tenant', () => {
  it('is answered like one that nobody used, and is left alone', async () => {
    const seen = async (): Promise<Reply['body']> => (await fleet.client.call('GET', '/v1/sessions/shared', theirs)).body;
    const before = await seen();
    expect(before.holder).toMatchObject({ taskId: own.task });
    const unused = readsOf('nobody-used-this');
    for (const [position, [method, path, body]] of readsOf('shared').entries()) {
      const [, unusedPath = ''] = unused[position] ?? [];
      const answer = await fleet.client.call(method, path, { ...mine, body });
      const other = await fleet.client.call(method, unusedPath, { ...mine, body });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(shapeOf(answer, 'shared')).toBe(shapeOf(other, 'nobody-used-this'));
    }
    const visitor = await fleet.client.make('/v1/sessions/shared/visitors', { name: 'theirs' }, theirs);
    const { token } = await fleet.client.make('/v1/sessions/shared/visitors', { name: 'mine' }, mine);
    expect((await fleet.client.call('GET', '/v1/sessions/shared', { key: token })).body.holder).toBeNull();
    const visitors = await fleet.client.call('GET', '/v1/sessions/shared/visitors', mine);
    expect((visitors.body.items as { name: string }[]).map(({ name }) => name)).toEqual(['mine']);
    const ended = await fleet.client.call('DELETE', `/v1/sessions/shared/visitors/${visitor.id}`, mine);
    expect([ended.status, ended.body.code]).toEqual([404, 'visitor.not-found']);
    expect((await fleet.client.call('GET', '/v1/sessions', mine)).body.items).toEqual([]);
    for (const path of ['/v1/sessions/shared?erase', '/v1/people/shared?erase'])
      expect([200, 202]).toContain((await fleet.client.call('DELETE', path, mine)).status);
    expect(await seen()).toEqual(before);
    await fleet.client.call('PUT', '/v1/sessions/shared/mode', { ...mine, body: { mode: 'default' } });
  });
});

describe('a tenant', () => {
  it('lists only what is its own', async () => {
    const id = await fleet.client.submit({ agent: 'echo' }, mine);
    // It must not be among what runs.
    await fleet.client.reaches(id, ['completed'], mine);
    const { body } = await fleet.client.call('GET', '/v1/tasks', mine);
    expect((body.items as { id: string }[]).map((item) => item.id)).toEqual([id]);
    for (const filter of ['session=shared', 'status=running', 'status=permanently_failed', 'agent=work'])
      expect((await fleet.client.call('GET', `/v1/tasks?${filter}`, mine)).body.items).toEqual([]);
    const agents = await fleet.client.call('GET', '/v1/agents', mine);
    expect(JSON.stringify(agents.body)).not.toContain('private');
    const hooks = await fleet.client.call('GET', '/v1/hooks', { ...mine, url: webhooksUrl });
    expect(hooks.body.items).toEqual([]);
    expect((await fleet.client.call('GET', '/v1/daemons', mine)).body.items).toEqual([]);
    expect((await fleet.client.call('GET', '/v1/fleet', mine)).body).toEqual({ workers: [], daemons: [], hubs: [], snapshots: [] });
  });

  it('shares no session, no idempotency key and no agent name with another one', async () => {
    // The other tenant's session of this name is busy.
    const mineInSession = await fleet.client.submit({ session: 'shared' }, mine);
    expect(await fleet.client.ended([mineInSession], 10_000, mine)).toMatchObject([{ status: 'completed' }]);
    const header = { headers: { 'idempotency-key': 'the-same' } };
    const first = await fleet.client.submit({ input: 'one' }, { ...mine, ...header });
    const second = await fleet.client.submit({ input: 'two' }, { ...theirs, ...header });
    expect(first).not.toBe(second);
    const agent = { kind: 'echo' };
    expect((await fleet.client.call('PUT', '/v1/agents/private', { ...mine, body: agent })).status).toBe(201);
    expect((await fleet.client.call('GET', '/v1/agents/private', theirs)).body.kind).toBe('http');
  });

  it('reaches neither the fleet, nor other tenants and their keys, with a key of every scope', async () => {
    const calls: [method: string, path: string, body?: unknown][] = [
      ['GET', '/v1/queues'],
      ['POST', '/v1/queues/tasks/pause'],
      ['POST', '/v1/queues/tasks/resume'],
      ['GET', '/v1/tenants'],
      ['POST', '/v1/tenants', { id: 'another' }],
      ['GET', '/v1/tenants/theirs'],
      ['PATCH', '/v1/tenants/theirs', { disabled: true }],
      ['PATCH', '/v1/tenants/mine', { limits: null }],
      ['DELETE', '/v1/tenants/theirs'],
      ['DELETE', '/v1/tenants/mine'],
      ['GET', '/v1/tenants/theirs/keys'],
      ['POST', '/v1/tenants/theirs/keys', { name: 'x', scopes: ['admin'] }],
      ['POST', '/v1/tenants/default/keys', { name: 'x', scopes: ['admin'] }],
      ['DELETE', `/v1/tenants/theirs/keys/${own.keyId}`],
    ];
    for (const [method, path, body] of calls)
      expect([method, path, (await fleet.client.call(method, path, { ...mine, body })).status]).toEqual([method, path, 403]);
    expect((await fleet.client.call('DELETE', `/v1/tenants/mine/keys/${own.keyId}`, mine)).status).toBe(404);
    expect((await fleet.client.call('GET', '/v1/tasks', theirs)).status).toBe(200);
  });

  it('sees nothing of another one on the dashboard', async () => {
    const ownPage = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    const body = `key=${String(mine.key)}`;
    const signIn = await fetch(`${dashboardUrl}/sign-in`, { method: 'POST', redirect: 'manual', headers: ownPage, body });
    const headers = { cookie: signIn.headers.get('set-cookie')?.split(';')[0] ?? '', accept: 'text/html' };
    const get = (path: string): Promise<Reply> => fleet.client.call('GET', path, { url: dashboardUrl, key: null, headers });
    expect((await get('/')).status).toBe(200);
    for (const path of [`/tasks/${own.task}`, `/tasks/${own.task}?tenant=theirs`]) {
      // The page is the same for every id; what it shows it asks of the API.
      const [page, unknown] = [await get(path), await get(path.replace(own.task, UNKNOWN_TASK))];
      expect([page.status, page.body]).toEqual([unknown.status, unknown.body]);
    }
    for (const path of [`/v1/tasks/${own.task}`, `/v1/tasks/${own.task}?tenant=theirs`]) {
      const answer = await fleet.client.call('GET', path, { key: null, headers: { ...headers, 'sec-fetch-site': 'same-origin' } });
      expect([404, 422]).toContain(answer.status);
      expect(JSON.stringify(answer.body)).not.toContain('120000');
    }
    expect((await get('/board')).status).toBe(403);
  });
});
