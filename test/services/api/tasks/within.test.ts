import { afterAll, expect, it } from 'vitest';
import { connectClient } from '../../../support/agents/mcp/mcp-clients.ts';
import type { Reply } from '../../../support/call-api.ts';
import { useApi } from '../support/use-api.ts';

const HOUR_MS = 3_600_000;
const api = await useApi({
  agents: {
    plain: { kind: 'daemon' },
    patient: { kind: 'function', run: () => Promise.resolve('done'), within: '8h' },
    hasty: { kind: 'function', run: () => Promise.resolve('done'), within: '5m' },
  },
});
afterAll(async () => {
  await api.parts.relay.idle();
});

const post = async (path: string, body: object): Promise<Reply['body']> => (await api.call('POST', path, { body })).body;
const idIn = (body: Reply['body']): string => body['id'] as string;

/** Each sends a task for an agent, with a time of its own where it can say one. Gives its id. */
const ways: Record<string, (agent: string, within?: string) => Promise<string>> = {
  'POST /v1/tasks': async (agent, within) => idIn(await post('/v1/tasks', { agent, input: 'x', within })),
  'POST /v1/tasks/bulk': async (agent, within) =>
    idIn(((await post('/v1/tasks/bulk', { items: [{ agent, input: 'x', within }] }))['items'] as Reply['body'][])[0] ?? {}),
  'a schedule': async (agent, within) => {
    const schedule = await post('/v1/schedules', { every: '1d', agent, message: 'x', within });
    return idIn(await post(`/v1/schedules/${idIn(schedule)}/run`, {}));
  },
  'send_task of MCP': async (agent, within) => {
    const client = await connectClient({ url: api.url, key: api.key });
    const { structuredContent } = await client.callTool({ name: 'send_task', arguments: { agent, input: 'x', within } });
    await client.close();
    return idIn(structuredContent as Reply['body']);
  },
};

const withinOf = async (id: string): Promise<unknown> => (await api.call('GET', `/v1/tasks/${id}`)).body['execution'].withinMs;

it.each(Object.entries(ways))('a task by %s takes `within`, and has that of its agent otherwise', async (_name, send) => {
  expect(await withinOf(await send('plain', '24h'))).toBe(24 * HOUR_MS);
  expect(await withinOf(await send('patient', '2 days'))).toBe(48 * HOUR_MS);
  expect(await withinOf(await send('patient'))).toBe(8 * HOUR_MS);
  expect(await withinOf(await send('plain'))).toBeNull();
});

it.each([
  ['a message of a session', '/v1/sessions/s1/messages', { text: 'x', agent: 'patient' }, (body: Reply['body']) => idIn(body)],
  [
    "a request of OpenAI's protocol",
    '/openai/v1/responses',
    { model: 'patient', input: 'x', background: true },
    (body: Reply['body']) => idIn(body).slice('resp_'.length, 'resp_'.length + 26),
  ],
])('%s has the time of its agent', async (_name, path, body, taskIn) => {
  expect(await withinOf(taskIn(await post(path, body)))).toBe(8 * HOUR_MS);
});

it('an agent whose time is shorter than a batch needs has none', async () => {
  expect(await withinOf(idIn(await post('/v1/tasks', { agent: 'hasty', input: 'x' })))).toBeNull();
});

it('a schedule shows it, changes it and loses it, and refuses what a task would refuse', async () => {
  const made = await post('/v1/schedules', { every: '1d', agent: 'plain', message: 'x', within: '24h' });
  expect(made).toMatchObject({ within: '1d' });
  const patch = async (within: unknown): Promise<Reply> => await api.call('PATCH', `/v1/schedules/${idIn(made)}`, { body: { within } });
  expect((await patch('90m')).body).toMatchObject({ within: '90m' });
  expect(await patch('5m')).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  expect((await patch(null)).body).toMatchObject({ within: null });
  expect(await withinOf(idIn(await post(`/v1/schedules/${idIn(made)}/run`, {})))).toBeNull();
});
