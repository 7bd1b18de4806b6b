import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../support/call-api.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const EXPECTED = 'expected one line of text without control characters';
const HTTP_AGENT = { kind: 'http', url: 'https://example.com/run' };

const UNSHOWABLE = [
  ['a line break', 'ci\nfake line'],
  ['a code that steers a terminal', '\u001B[2Kci'],
  ['a control character of eight bits', 'ci\u009B2K'],
  ['a line separator', 'ci\u2028fake line'],
  ['an override of the direction', 'ci\u202Egnp'],
  ['an isolate of the direction', 'ci\u2066gnp'],
  ['half a character', 'ci\uD800'],
] as const;

const asSchedule = { phrase: 'every monday at 09:00', agent: 'echo', message: 'go' };
const call = (method: string, path: string, body: object): Promise<Reply> => api.call(method, path, { body });

describe.each(UNSHOWABLE)('a name with %s', (_, name) => {
  it.each([
    ['a new tenant', 'name', () => call('POST', '/v1/tenants', { id: 'acme', name })],
    ['a changed tenant', 'name', () => call('PATCH', '/v1/tenants/default', { name })],
    ['a key', 'name', () => call('POST', '/v1/tenants/default/keys', { name, scopes: ['read'] })],
    ['a schedule', 'name', () => call('POST', '/v1/schedules', { ...asSchedule, name })],
    ['a visitor', 'name', () => call('POST', '/v1/sessions/web/visitors', { name })],
    ['a daemon', 'name', () => call('POST', '/v1/daemons', { name })],
    ['an agent, as its description', 'description', () => call('PUT', '/v1/agents/mine', { ...HTTP_AGENT, description: name })],
  ])('is refused for %s, with what is expected', async (what, field, send) => {
    const { status, body } = await send();
    expect([status, body.code]).toEqual([422, 'request.invalid']);
    const problems = what === 'a daemon' ? [{ path: 'body.name' }] : [{ path: `body.${field}`, message: EXPECTED }];
    expect(body.details.problems).toMatchObject(problems);
  });
});

it('takes names of every script, with joined characters', async () => {
  for (const name of ['Łódź · 東京', 'می‌خواهم', '👩‍👩‍👧', '‏שלום‏ (he)'])
    expect((await call('POST', '/v1/tenants/default/keys', { name, scopes: ['read'] })).status).toBe(201);
});

const UNSEEN = [
  ['a mark of a direction', 'a\u200Fb'],
  ['a character of no width', 'a\u200Bb'],
] as const;

describe.each([...UNSHOWABLE, ...UNSEEN])('a session with %s', (_, id) => {
  it('is made by no task and no message, and can be asked for where it is from before', async () => {
    const task = await call('POST', '/v1/tasks', { agent: 'echo', input: 'go', session: id });
    expect([task.status, task.body.code, task.body.details]).toMatchObject([
      422,
      'request.invalid',
      { problems: [{ path: 'body.session' }] },
    ]);
    if (!id.isWellFormed()) return;
    const path = `/v1/sessions/${encodeURIComponent(id)}`;
    expect((await call('POST', `${path}/messages`, { text: 'go' })).status).toBe(422);
  });
});

it('takes sessions of every script, and reads those with hidden characters', async () => {
  for (const session of ['pr/42', 'Łódź · 東京', 'می\u200Cخواهم', '👩\u200D👩\u200D👧'])
    expect((await call('POST', '/v1/tasks', { agent: 'echo', input: 'go', session })).status).toBe(202);
  expect((await api.call('GET', `/v1/sessions/${encodeURIComponent('a\u202Eb')}`)).status).toBe(200);
});

it('reads an agent whose description is from before descriptions were checked', async () => {
  const { redis, keys } = api.parts;
  const description = 'Writes notes.\nNever rests.';
  await redis.hset(keys.tenant('default').agents, 'older', JSON.stringify({ ...HTTP_AGENT, description }));
  expect((await api.call('GET', '/v1/agents/older')).body).toMatchObject({ id: 'older', description });
});
