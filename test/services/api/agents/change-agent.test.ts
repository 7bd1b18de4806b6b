import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../support/call-api.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ agents: { echo: { kind: 'echo' } }, tasks: { maxTimeoutMs: 60_000 } });
const { redis, keys, catalog } = api.parts;

const put = (id: string, body: object, headers = {}): Promise<Reply> => api.call('PUT', `/v1/agents/${id}`, { body, headers });
const patch = (id: string, body: unknown, key = api.key): Promise<Reply> => api.call('PATCH', `/v1/agents/${id}`, { body, key });
const problems = async (id: string, body: object): Promise<unknown> => (await patch(id, body)).body.details?.problems;
const stored = async (id: string): Promise<unknown> => JSON.parse((await redis.hget(keys.tenant('default').agents, id)) ?? 'null');

const HTTP = {
  kind: 'http',
  url: 'https://user:pw@example.com/run?token=t',
  secret: 'whsec_c2VjcmV0LXNlY3JldA==',
  headers: { 'x-key': 'header-secret', 'x-more': 'more' },
  lane: 'slow',
  sameInput: { hold: 9 },
  retries: { 'NETWORK_*': 'stop' },
};
const OPENAI = {
  kind: 'openai',
  model: 'small',
  baseUrl: 'https://models.example.com/v1?key=k',
  apiKey: 'sk-secret',
  within: '24h',
  priceMicroUsdPerMillion: { input: 1, output: 2 },
};

describe('a PATCH of an agent', () => {
  it('keeps what it does not name, also what no answer shows', async () => {
    await put('service', HTTP);
    await put('model', OPENAI);
    await put('desk', { kind: 'daemon', takesInput: true, sameInput: false });
    expect(await patch('service', { description: 'Mine', maxRunning: 2 })).toMatchObject({ status: 200, body: { description: 'Mine' } });
    expect((await patch('model', { model: 'large' })).body).toMatchObject({ model: 'large', within: '24h' });
    await patch('desk', { capabilities: ['code'] });
    expect(await stored('service')).toEqual({ ...HTTP, description: 'Mine', maxRunning: 2 });
    expect(await stored('model')).toEqual({ ...OPENAI, model: 'large' });
    expect(await stored('desk')).toEqual({ kind: 'daemon', takesInput: true, sameInput: false, capabilities: ['code'] });
  });

  it('removes what is null, and merges members of members', async () => {
    await put('service', HTTP);
    await patch('service', { secret: null, lane: null, headers: { 'x-more': null, 'x-new': 'new' }, timeoutMs: null });
    const { secret: _secret, lane: _lane, ...rest } = HTTP;
    expect(await stored('service')).toEqual({ ...rest, headers: { 'x-key': 'header-secret', 'x-new': 'new' } });
  });

  it('takes effect on how many tasks run at once', async () => {
    await put('bounded', { kind: 'echo' });
    await patch('bounded', { maxRunning: 3 });
    expect(await redis.hgetall(keys.shard(keys.shardOf('default')).agentCaps)).toMatchObject({ 'default/bounded': '3' });
    await patch('bounded', { maxRunning: null });
    expect(await redis.hgetall(keys.shard(keys.shardOf('default')).agentCaps)).toMatchObject({ 'default/bounded': '0' });
  });

  it.each([
    ['a member that the kind does not have', { url: 'https://example.com' }, 'request.invalid'],
    ['a value that does not fit', { maxRunning: 0 }, 'request.invalid'],
    ['no value of a member that is needed', { model: null }, 'request.invalid'],
    ['a description of two lines', { description: 'a\nb' }, 'request.invalid'],
    ['a timeout that is longer than allowed', { timeoutMs: 60_001 }, 'request.invalid'],
    ['a kind that runs code here', { kind: 'command' }, 'agent.operator-only'],
    ['a list', [1], 'request.invalid'],
  ])('refuses %s and changes nothing', async (_what, body, code) => {
    await put('model', OPENAI);
    expect((await patch('model', body)).body.code).toBe(code);
    expect(await stored('model')).toEqual(OPENAI);
  });

  it('names the member that does not fit', async () => {
    await put('model', OPENAI);
    expect((await patch('model', { temperature: 3 })).body.details.problems).toMatchObject([{ path: 'body.temperature' }]);
  });

  it('sends no secret to another server than the one it was given for', async () => {
    await put('model', OPENAI);
    await put('service', HTTP);
    const elsewhere = 'https://attacker.example/run';
    expect(await problems('model', { baseUrl: elsewhere })).toMatchObject([{ path: 'body.apiKey' }]);
    expect(await problems('model', { baseUrl: null })).toMatchObject([{ path: 'body.apiKey' }]);
    expect(await problems('service', { url: elsewhere })).toMatchObject([{ path: 'body.headers' }]);
    expect(await problems('service', { url: elsewhere, headers: { 'x-key': 'a' } })).toMatchObject([{ path: 'body.headers' }]);
    expect([await stored('model'), await stored('service')]).toEqual([OPENAI, HTTP]);
    expect(await problems('model', { baseUrl: 'https://models.example.com/v2' })).toBeUndefined();
    expect(await problems('model', { baseUrl: elsewhere, apiKey: 'another' })).toBeUndefined();
    expect(await problems('service', { url: elsewhere, headers: null })).toBeUndefined();
    expect(await stored('service')).not.toHaveProperty('headers');
  });

  it('is for the scope operate, and for agents of the tenant’s own', async () => {
    await put('mine', { kind: 'echo' });
    expect((await patch('mine', {}, await api.keyOf('default', ['submit']))).body.code).toBe('auth.forbidden');
    expect((await patch('mine', {}, await api.keyOf('other', ['operate']))).body.code).toBe('agent.not-found');
    expect((await patch('nobody', {})).body.code).toBe('agent.not-found');
    expect((await patch('echo', {})).body.code).toBe('agent.operator-only');
  });

  it('loses to no other one at the same time', async () => {
    await put('busy', { kind: 'echo' });
    const changes = [{ description: 'both' }, { maxRunning: 4 }, { timeoutMs: 5000 }, { maxAttempts: 2 }, { lane: 'x' }];
    await Promise.all(changes.map((change) => catalog.change('default', 'busy', (before) => ({ ...before, ...change }))));
    expect(await stored('busy')).toEqual(Object.assign({ kind: 'echo' }, ...changes));
  });

  it('makes no agent that was removed meanwhile, and gives up when others never stop', async () => {
    const { agents } = keys.tenant('default');
    await put('gone', { kind: 'echo' });
    let calls = 0;
    const removed = catalog.change('default', 'gone', (before) => {
      calls += 1;
      // Sent at once, so before what `change` writes: a connection keeps the order of its commands.
      void redis.pipeline().hdel(agents, 'gone').exec();
      return before;
    });
    expect([await removed, calls]).toEqual([null, 1]);
    await put('restless', { kind: 'echo' });
    const restless = catalog.change('default', 'restless', (before) => {
      calls += 1;
      void redis
        .pipeline()
        .hset(agents, 'restless', JSON.stringify({ kind: 'echo', maxRunning: calls }))
        .exec();
      return before;
    });
    await expect(restless).rejects.toMatchObject({ code: 'agent.busy' });
  });
});

it('a PUT with If-None-Match: * makes an agent and replaces none, also of two at the same time', async () => {
  const onlyNew = { 'if-none-match': '*' };
  const made = await Promise.all([put('once', { kind: 'echo' }, onlyNew), put('once', HTTP, onlyNew)]);
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201, 412]));
  expect(made.find(({ status }) => status === 412)?.body).toMatchObject({ code: 'agent.exists', details: { agent: 'once' } });
  const before = await stored('once');
  expect((await put('once', { kind: 'daemon' }, onlyNew)).status).toBe(412);
  expect(await stored('once')).toEqual(before);
  expect((await put('once', { kind: 'daemon' }, { 'if-none-match': '"1"' })).body.code).toBe('request.invalid');
  expect((await put('once', { kind: 'daemon' })).status).toBe(200);
});
