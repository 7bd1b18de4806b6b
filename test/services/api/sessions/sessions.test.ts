import { describe, expect, it } from 'vitest';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { CallOptions, Reply } from '../../../support/call-api.ts';

const api = await useApi({ sessions: { maxVisitors: 20 }, limits: { httpVisitorPerMinute: 50 } });
const drive = driveTasks(api.parts);

/** Does not go into a running task, so that it has to wait. */
const PLAIN = { context: { noInput: true } };

async function say(session: string, text: string, body: object = {}, options: CallOptions = {}): Promise<Reply> {
  return await api.call('POST', `/v1/sessions/${encodeURIComponent(session)}/messages`, { ...options, body: { text, ...PLAIN, ...body } });
}

const show = async (session: string, options?: CallOptions): Promise<Reply> =>
  await api.call('GET', `/v1/sessions/${encodeURIComponent(session)}`, options);

async function letIn(session: string, body: object = {}): Promise<Reply> {
  return await api.call('POST', `/v1/sessions/${session}/visitors`, { body });
}

describe('messages of a session', () => {
  it('are accepted, wait their turn with a reason, and are shown in order', async () => {
    const first = await say('talk', 'first', { user: 'ada', surface: 'webchat' });
    expect([first.status, first.body]).toEqual([202, { id: expect.any(String), status: 'queued', position: 0, outcome: null }]);
    expect(first.headers.get('location')).toBe(`/v1/tasks/${first.body.id}`);
    const second = await say('talk', 'second');
    const third = await say('talk', 'third', { sequence: 1 });
    expect(second.body).toMatchObject({ status: 'pending', position: 1, outcome: null });
    await drive.start(first.body.id);
    const { status, body } = await show('talk');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 'talk',
      mode: 'queue',
      modeSource: 'surface',
      surface: 'webchat',
      holder: { taskId: first.body.id, startedAt: expect.stringMatching(/Z$/), worker: 'worker-1', status: 'running', reason: null },
      waitingTotal: 2,
      transcriptLength: 0,
    });
    const line = body.waiting.map((each: { taskId: string }) => each.taskId);
    expect(new Set(line)).toEqual(new Set([second.body.id, third.body.id]));
    expect(body.waiting[0]).toEqual({ taskId: line[0], position: 1, reason: `behind task ${first.body.id}` });
    expect(body.waiting[1]).toEqual({ taskId: line[1], position: 2, reason: `behind task ${line[0]}` });
  });

  it('name the outcome that is final at once', async () => {
    const running = (await say('refusing', 'first')).body.id;
    await drive.start(running);
    const { status, body } = await say('refusing', 'second', { mode: 'reject' });
    expect([status, body]).toMatchObject([202, { status: 'cancelled', outcome: { kind: 'rejected', taskId: running } }]);
  });

  it('make one task when they are sent again under their key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await say('again', 'hello', {}, { headers });
    const second = await say('again', 'hello', {}, { headers });
    expect([first.status, second.status, second.body.id]).toEqual([202, 200, first.body.id]);
    expect((await say('again', 'other', {}, { headers })).body.code).toBe('task.idempotency-conflict');
  });

  it('that are commands are answered with the text for the person', async () => {
    const { status, body } = await say('quiet', '/stop');
    expect([status, body]).toEqual([200, { command: 'stop', text: 'Nothing runs and nothing waits.' }]);
    expect((await say('quiet', '/queue steer')).body).toMatchObject({ command: 'queue', text: expect.stringContaining('steer') });
    expect((await show('quiet')).body).toMatchObject({ mode: 'steer', modeSource: 'session', holder: null, waiting: [] });
  });

  it.each([
    ['no text', {}],
    ['a mode that is none', { text: 'x', mode: 'nonsense' }],
    ['a field that is none', { text: 'x', priority: 1 }],
    ['a number below zero', { text: 'x', sequence: -1 }],
    ['blank text', { text: ' ' }],
  ])('are refused with %s', async (_what, body) => {
    const answer = await api.call('POST', '/v1/sessions/x/messages', { body });
    expect([answer.status, answer.body.code]).toEqual([422, 'request.invalid']);
  });

  it('are refused in a session whose name cannot be one', async () => {
    for (const name of ['a\u0007b', 'x'.repeat(201)]) expect((await say(name, 'hello')).status).toBe(422);
    expect((await say('acme/repo #7 ✓', 'hello')).status).toBe(202);
    expect((await show('acme/repo #7 ✓')).body.holder).not.toBeNull();
  });
});

const put = (mode: string): Promise<Reply> => api.call('PUT', '/v1/sessions/choosing/mode', { body: { mode } });

describe('a session', () => {
  it('is stopped: first what waits, then what runs', async () => {
    const running = (await say('stopping', 'first')).body.id;
    await drive.start(running);
    const waiting = [(await say('stopping', 'second')).body.id, (await say('stopping', 'third')).body.id];
    const { status, body } = await api.call('POST', '/v1/sessions/stopping/stop');
    expect([status, body]).toEqual([200, { withdrawn: 2, stopped: 1 }]);
    for (const id of waiting) expect((await api.call('GET', `/v1/tasks/${id}`)).body).toMatchObject({ status: 'cancelled' });
    expect((await api.call('POST', '/v1/sessions/never-used/stop')).body).toEqual({ withdrawn: 0, stopped: 0 });
  });

  it('has a mode that is chosen and taken back', async () => {
    expect((await put('interrupt')).body).toMatchObject({ id: 'choosing', mode: 'interrupt', modeSource: 'session' });
    expect((await put('default')).body).toMatchObject({ mode: 'queue', modeSource: 'surface' });
    expect((await put('nonsense')).status).toBe(422);
  });

  it('has a transcript of what was completed since it was restarted', async () => {
    await drive.complete((await say('scribe', 'before')).body.id, 'gone');
    await say('scribe', '/new');
    await drive.complete((await say('scribe', 'question')).body.id, 'answer');
    const { body } = await api.call('GET', '/v1/sessions/scribe/transcript');
    expect(body.items).toEqual([
      { taskId: expect.any(String), input: 'question', output: 'answer', completedAt: expect.stringMatching(/Z$/) },
    ]);
    expect((await show('scribe')).body.transcriptLength).toBe(1);
  });

  it('is listed, page by page', async () => {
    const other = await api.keyOf('listing', ['submit']);
    for (const name of ['a', 'b', 'c']) await say(name, 'hello', {}, { key: other });
    const first = await api.call('GET', '/v1/sessions?limit=2', { key: other });
    expect(first.body.items.map(({ id }: { id: string }) => id)).toEqual(['a', 'b']);
    expect(first.body.items[0]).toMatchObject({ mode: 'queue', waiting: [], waitingTotal: 0, holder: { startedAt: null, worker: null } });
    const second = await api.call('GET', `/v1/sessions?limit=2&active=true&cursor=${first.body.nextCursor}`, { key: other });
    expect([second.body.items.length, second.body.nextCursor]).toEqual([1, null]);
    expect((await api.call('GET', '/v1/sessions?activ=true', { key: other })).status).toBe(422);
  });

  it('shows nothing of another tenant’s session of the same name, and touches nothing in it', async () => {
    const other = await api.keyOf('other', ['submit']);
    const id = (await say('shared', 'ours')).body.id;
    await drive.start(id);
    await api.call('PUT', '/v1/sessions/shared/mode', { body: { mode: 'collect' } });
    const unused = (await show('never-used-at-all', { key: other })).body;
    expect((await show('shared', { key: other })).body).toEqual({ ...unused, id: 'shared' });
    expect((await api.call('GET', '/v1/sessions', { key: other })).body.items).toEqual([]);
    expect((await api.call('GET', '/v1/sessions/shared/transcript', { key: other })).body.items).toEqual([]);
    expect((await api.call('POST', '/v1/sessions/shared/stop', { key: other })).body).toEqual({ withdrawn: 0, stopped: 0 });
    expect((await say('shared', 'theirs', {}, { key: other })).body).toMatchObject({ position: 0 });
    expect((await show('shared')).body).toMatchObject({ mode: 'collect', holder: { taskId: id }, waitingTotal: 0 });
  });

  it('is changed by keys that may submit and read by those that may look', async () => {
    const reader = { key: await api.keyOf('default', ['read']) };
    expect((await show('talk', reader)).status).toBe(200);
    expect((await api.call('GET', '/v1/sessions', reader)).status).toBe(200);
    const refused: [method: string, path: string, body?: object][] = [
      ['POST', '/v1/sessions/talk/messages', { text: 'x' }],
      ['POST', '/v1/sessions/talk/stop'],
      ['PUT', '/v1/sessions/talk/mode', { mode: 'steer' }],
      ['POST', '/v1/sessions/talk/visitors', {}],
      ['DELETE', '/v1/sessions/talk/visitors/key_000000000000'],
    ];
    for (const [method, path, body] of refused)
      expect([path, (await api.call(method, path, { ...reader, body })).status]).toEqual([path, 403]);
  });
});

describe('a visitor’s token', () => {
  it('is made with a name and an end', async () => {
    const { status, body } = await letIn('salon', { name: 'Ada', expiresInMs: 60_000 });
    expect([status, Object.keys(body)]).toEqual([201, ['id', 'token', 'expiresAt']]);
    expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(50_000);
    expect(Date.parse(body.expiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
    expect((await letIn('salon', { expiresInMs: 5 })).status).toBe(422);
  });

  it('talks in its session, reads it, chooses its mode and stops it, under its own name', async () => {
    const { token: key } = (await letIn('parlour', { name: 'Ada' })).body;
    const said = await api.call('POST', '/v1/sessions/parlour/messages', { key, body: { text: 'hello', mode: 'queue', sequence: 3 } });
    expect(said.status).toBe(202);
    await drive.complete(said.body.id, 'hello to you');
    for (const path of ['', '/transcript']) expect((await api.call('GET', `/v1/sessions/parlour${path}`, { key })).status).toBe(200);
    expect((await api.call('PUT', '/v1/sessions/parlour/mode', { key, body: { mode: 'default' } })).status).toBe(200);
    expect((await api.call('POST', '/v1/sessions/parlour/stop', { key })).status).toBe(200);
    const stored = await api.parts.redis.hget(api.parts.keys.tenant('default').bodies, said.body.id);
    expect(JSON.parse(stored ?? '')).toMatchObject({ user: 'Ada', session: 'parlour' });
  });

  it.each([
    ['a message', 'hello', 202],
    ['a command', '/stop', 200],
  ])('takes no idempotency key of the tenant or of another session by %s', async (_what, text, status) => {
    const names = [`key:${text}`, `key:${text}:1`] as const;
    const tokens = await Promise.all(names.map(async (name) => (await letIn(encodeURIComponent(name))).body.token as string));
    const send = async (at: 0 | 1, id: string, words = text): Promise<Reply> =>
      await say(names[at], words, { context: undefined }, { key: tokens[at] ?? '', headers: { 'idempotency-key': id } });
    const sent = [await send(0, `1:2${text}`), await send(1, `2${text}`), await send(1, `1:2${text}`), await send(0, '2'.repeat(255))];
    expect(sent.map((reply) => reply.status)).toEqual(Array.from(sent, () => status));
    const again = await send(0, `1:2${text}`);
    expect([again.status, again.body.id]).toEqual([200, sent[0]?.body.id]);
    expect((await send(0, `1:2${text}`, 'other')).body.code).toBe('task.idempotency-conflict');
    const own = { body: { agent: 'echo', input: text }, headers: { 'idempotency-key': `1:2${text}` } };
    const tasks = [await api.call('POST', '/v1/tasks', own), await api.call('POST', '/v1/tasks', own)];
    expect(tasks.map((reply) => reply.status)).toEqual([202, 200]);
    await api.call('POST', `/v1/tasks/${tasks[0]?.body.id}/cancel`);
    await Promise.all(names.map((name) => api.call('POST', `/v1/sessions/${encodeURIComponent(name)}/stop`)));
  });

  it('chooses neither the agent, nor its own name, nor the context', async () => {
    const { token: key } = (await letIn('parlour')).body;
    for (const more of [{ agent: 'shell' }, { user: 'admin' }, { context: { a: 1 } }, { surface: 'slack' }]) {
      const { status, body } = await api.call('POST', '/v1/sessions/parlour/messages', { key, body: { text: 'x', ...more } });
      expect([status, body.code]).toEqual([403, 'auth.forbidden']);
    }
  });

  it('opens no other session and nothing else, whether it is there or not', async () => {
    const { token: key, id } = (await letIn('parlour')).body;
    const task = (await say('elsewhere', 'secret')).body.id;
    const calls: [method: string, path: string, body?: object][] = [
      ...['elsewhere', 'not-there', 'parlour%2f', 'Parlour'].flatMap((name): [string, string, object?][] => [
        ['GET', `/v1/sessions/${name}`],
        ['GET', `/v1/sessions/${name}/stream`],
        ['GET', `/v1/sessions/${name}/transcript`],
        ['POST', `/v1/sessions/${name}/messages`, { text: 'x' }],
        ['POST', `/v1/sessions/${name}/uploads`, { file: 'x' }],
        ['POST', `/v1/sessions/${name}/stop`],
        ['PUT', `/v1/sessions/${name}/mode`, { mode: 'steer' }],
      ]),
      ['GET', '/v1/sessions'],
      ['POST', '/v1/sessions/parlour/visitors', {}],
      ['GET', '/v1/sessions/parlour/visitors'],
      ['DELETE', `/v1/sessions/parlour/visitors/${id}`],
      ['POST', '/v1/tasks', { agent: 'echo', input: 'x', session: 'parlour' }],
      ['GET', '/v1/tasks'],
      ['GET', `/v1/tasks/${task}`],
      ['GET', '/v1/tasks/parlour'],
      ['GET', '/v1/agents'],
      ['GET', '/v1/agents/parlour'],
      ['GET', '/v1/queues'],
      ['GET', '/v1/tenants'],
      ['GET', '/v1/tenants/parlour/keys'],
    ];
    for (const [method, path, body] of calls) {
      const answer = await api.call(method, path, { key, body });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, 'auth.forbidden']);
      expect(JSON.stringify(answer.body)).not.toContain('secret');
    }
  });

  it('sends no files unless the configuration lets visitors', async () => {
    const { token: key } = (await letIn('parlour')).body;
    const { status, body } = await api.call('POST', '/v1/sessions/parlour/uploads', { key, body: {} });
    expect([status, body.code]).toEqual([403, 'auth.forbidden']);
  });

  it('is listed without its secret, and ends when its session’s tenant ends it', async () => {
    const { token: key, id, expiresAt } = (await letIn('study', { name: 'Ada' })).body;
    const staying = (await letIn('study', { name: 'Bob' })).body;
    await letIn('attic', { name: 'Eve' });
    const listed = (await api.call('GET', '/v1/sessions/study/visitors')).body;
    expect(listed).toEqual({
      items: [
        { id, name: 'Ada', createdAt: expect.any(String), expiresAt },
        { id: staying.id, name: 'Bob', createdAt: expect.any(String), expiresAt: staying.expiresAt },
      ],
      nextCursor: null,
    });
    const otherTenant = { key: await api.keyOf('other', ['admin']) };
    expect((await api.call('GET', '/v1/sessions/study/visitors', otherTenant)).body.items).toEqual([]);
    const end = async (session: string, options?: CallOptions): Promise<Reply> =>
      await api.call('DELETE', `/v1/sessions/${session}/visitors/${id}`, options);
    for (const refused of [await end('study', otherTenant), await end('attic')])
      expect([refused.status, refused.body.code]).toEqual([404, 'visitor.not-found']);
    expect((await show('study', { key })).status).toBe(200);
    expect((await end('study')).status).toBe(204);
    expect((await show('study', { key })).status).toBe(401);
    expect((await end('study')).status).toBe(404);
    expect((await show('study', { key: staying.token })).status).toBe(200);
  });

  it('does not call more often than visitors may', async () => {
    const { token: key } = (await letIn('parlour')).body;
    const answers = await Promise.all(Array.from({ length: 51 }, () => show('parlour', { key })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.find(({ status }) => status === 429)?.body.code).toBe('limit.rate');
  });

  it('opens nothing when it is unknown, and no tenant has too many', async () => {
    const unknown = `mv_${'a'.repeat(43)}`;
    expect((await show('parlour', { key: unknown })).status).toBe(401);
    let last: Reply | undefined;
    for (let count = 0; count < 21; count += 1) last = await letIn('crowd');
    expect([last?.status, last?.body.code]).toEqual([429, 'limit.visitors']);
  });

  it('is no scope that a key may be given', async () => {
    const { status } = await api.call('POST', '/v1/tenants/default/keys', { body: { name: 'x', scopes: ['visit'] } });
    expect(status).toBe(422);
  });
});
