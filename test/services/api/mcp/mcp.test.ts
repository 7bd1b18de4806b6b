import { createMCPClient } from '@ai-sdk/mcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '#shared/config/define-config.ts';
import type { Scope } from '#shared/tenants/key-store.ts';
import { connectClient, connectLegacyClient } from '../../../support/agents/mcp/mcp-clients.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const triage = defineAgent({
  name: 'triage',
  description: 'Sorts reports.\u202e Second line',
  input: z.object({ title: z.string().min(1), votes: z.number().int().default(0) }),
  output: z.object({ label: z.enum(['bug', 'idea']), votes: z.number() }),
  run: ({ votes }) => ({ label: 'bug' as const, votes }),
});
const counts = defineAgent({ name: 'counts', input: z.array(z.number()), run: (numbers) => numbers.length });
let release = Promise.withResolvers<void>();
const slow = defineAgent({
  name: 'slow',
  run: async () => {
    await release.promise;
    return 'done';
  },
});
const api = await useApi({
  agents: { slow, echo: { kind: 'echo' }, triage, counts, why: { kind: 'echo' }, 'a.b': { kind: 'echo' } },
  retries: { api: { maxAttempts: 1 } },
});
await useWorker(api.parts);

const FLEET = ['send_task', 'get_task', 'why', 'cancel_task', 'list_tasks', 'schedule', 'ask_session', 'answer_question'];
const UNKNOWN = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

interface Result {
  content: unknown;
  isError?: boolean | undefined;
  structuredContent?: unknown;
}
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }, ...options: never[]): Promise<unknown>;
  close(): Promise<void>;
}

const eras: [era: string, connect: (key?: string) => Promise<AnyClient>][] = [
  ['2026-07-28', (key = api.key) => connectClient({ url: api.url, key })],
  ['2025-11-25', (key = api.key) => connectLegacyClient({ url: api.url, key })],
];

async function call(client: AnyClient, name: string, given: Record<string, unknown> = {}): Promise<Result & { text: string }> {
  const result = (await client.callTool({ name, arguments: given })) as Result & { content: { text: string }[] };
  return { ...result, text: result.content[0]?.text ?? '' };
}

describe.each(eras)('the official client of %s', (_era, connect) => {
  it('sends a task, reads it, lists it, explains it and stops it', async () => {
    const client = await connect();
    const sent = await call(client, 'send_task', { agent: 'echo', input: 'hello', scheduledFor: '2099-01-01T00:00:00Z', metadata: null });
    expect(sent.structuredContent).toMatchObject({ status: 'pending' });
    const { id } = sent.structuredContent as { id: string };
    expect(JSON.parse(sent.text)).toEqual(sent.structuredContent);
    expect((await call(client, 'get_task', { id })).structuredContent).toMatchObject({ id, input: 'hello', source: 'api' });
    const listed = await call(client, 'list_tasks', { status: ['pending', 'queued'], skipped: true, limit: 5, agent: null });
    expect(listed.structuredContent).toMatchObject({ items: [{ id }] });
    expect((await call(client, 'why', { id })).structuredContent).toMatchObject({ reasons: [{ gate: 'time' }] });
    expect((await call(client, 'cancel_task', { id, reason: 'enough' })).structuredContent).toMatchObject({ status: 'cancelled' });
    expect((await api.call('GET', `/v1/tasks/${id}`)).body.outcome).toMatchObject({ reason: 'enough' });
    await client.close();
  });

  it('hears how the task of its call stands, where it wants to', async () => {
    const client = await connect();
    release = Promise.withResolvers();
    const heard: { progress: number; message?: string | undefined }[] = [];
    const onprogress = (each: { progress: number; message?: string | undefined }): void => {
      heard.push(each);
      if (each.message?.includes('running') === true) release.resolve();
    };
    const options = _era === '2025-11-25' ? [undefined, { onprogress }] : [{ onprogress }];
    const result = await client.callTool({ name: 'slow', arguments: { input: 'x' } }, ...(options as never[]));
    expect(result).toMatchObject({ content: [{ text: 'done' }] });
    expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_each, at) => at + 1));
    expect(heard.at(-1)?.message).toBe('The task is running');
    await client.close();
  });

  it('makes one task of two calls with one key for them', async () => {
    const client = await connect();
    const given = { agent: 'echo', input: 'once', idempotencyKey: `once-${_era}` };
    const ids = [await call(client, 'send_task', given), await call(client, 'send_task', given)].map(
      ({ structuredContent }) => structuredContent,
    );
    expect(ids[0]).toMatchObject({ id: (ids[1] as { id: string }).id });
    expect((await call(client, 'send_task', { ...given, input: 'twice' })).structuredContent).toMatchObject({
      code: 'task.idempotency-conflict',
    });
    await client.close();
  });

  it('makes a schedule, and learns what a phrase may be where it cannot be read', async () => {
    const client = await connect();
    const made = await call(client, 'schedule', { every: '1d', agent: 'echo', message: 'x', name: null });
    expect(made.structuredContent).toMatchObject({ sentence: 'Every day' });
    const refused = await call(client, 'schedule', { phrase: 'whenever', agent: 'echo', message: 'x' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'schedule.unreadable' } });
    await client.close();
  });

  it('talks in a session, whose commands are applied at once', async () => {
    const client = await connect();
    const session = `talk ${_era}`;
    expect((await call(client, 'ask_session', { session, text: 'hello there', agent: 'echo' })).text).toBe('hello there');
    expect((await call(client, 'ask_session', { session, text: '/queue collect' })).structuredContent).toMatchObject({ command: 'queue' });
    expect((await api.call('GET', `/v1/sessions/${encodeURIComponent(session)}`)).body).toMatchObject({ mode: 'collect' });
    await client.close();
  });

  it('calls agents as tools, by their schema where they have one, and gets what they answer', async () => {
    const client = await connect();
    expect(await call(client, 'echo', { input: 'hi', session: `agents ${_era}` })).toMatchObject({ text: 'hi' });
    const result = await call(client, 'triage', { title: 'It broke', votes: 3 });
    expect(result).toMatchObject({ structuredContent: { label: 'bug', votes: 3 } });
    expect(JSON.parse(result.text)).toEqual(result.structuredContent);
    expect((await call(client, 'counts', { input: [1, 2, 3] })).text).toBe('3');
    const refused = await call(client, 'triage', { votes: 'many' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'request.invalid' } });
    await client.close();
  });

  it('learns of a failure with its code and its task', async () => {
    const client = await connect();
    await api.call('PUT', '/v1/agents/gone', { body: { kind: 'http', url: 'https://agent.invalid' } });
    const failed = await call(client, 'gone', { input: 'x' });
    expect(failed).toMatchObject({ isError: true });
    expect(failed.text).toMatch(/^[A-Z_]+: .+ \(task [0-9A-Z]{26}\)$/);
    await client.close();
  });

  it.each([
    ['get_task', { id: UNKNOWN }, 'task.not-found'],
    ['get_task', { id: '../x' }, 'task.not-found'],
    ['get_task', { id: 5 }, 'request.invalid'],
    ['get_task', {}, 'request.invalid'],
    ['get_task', { id: UNKNOWN, and: 'more' }, 'request.invalid'],
    ['why', { id: UNKNOWN }, 'task.not-found'],
    ['cancel_task', { id: UNKNOWN }, 'task.not-found'],
    ['answer_question', { id: `${UNKNOWN}.2.00000000`, answer: 'yes' }, 'question.not-found'],
    ['send_task', { agent: 'nobody', input: 'x' }, 'agent.unknown'],
    ['send_task', { agent: 'echo', input: 'x', source: 'chat' }, 'task.source-reserved'],
    ['list_tasks', { statuz: 'running' }, 'request.invalid'],
    ['ask_session', { session: '\u0007', text: 'x' }, 'request.invalid'],
    ['echo', { session: 's' }, 'request.invalid'],
    ['echo', { input: 'x', more: 1 }, 'request.invalid'],
  ])('is refused %s %j as a result with the code %s', async (name, given, code) => {
    const client = await connect();
    const refused = await call(client, name, given);
    expect(refused).toMatchObject({ isError: true, structuredContent: { code } });
    expect(refused.text.startsWith(`${code}: `)).toBe(true);
    await client.close();
  });

  it.each([
    [['read'], ['get_task', 'why', 'list_tasks']],
    [['answer'], ['get_task', 'why', 'list_tasks', 'answer_question']],
    [['submit'], FLEET.filter((name) => name !== 'answer_question')],
    [['operate'], FLEET],
  ] as [Scope[], string[]][])('with the scopes %j is offered what they allow', async (scopes, expected) => {
    const key = await api.keyOf('default', scopes);
    const client = await connect(key);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.slice(0, expected.length)).toEqual(expected);
    const agents = names.slice(expected.length);
    expect(agents.includes('triage')).toBe(expected.includes('send_task'));
    for (const name of FLEET.filter((each) => !expected.includes(each)))
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(`Tool "${name}" not found`);
    const called = await call(client, 'echo', { input: 'x' }).catch(({ message }: Error) => ({ text: message }));
    expect(called.text.includes('not found')).toBe(agents.length === 0);
    await client.close();
  });
});

describe('tools of agents', () => {
  it('have the description and the schema of their agent, and names that no other tool has', async () => {
    const client = await connectClient(api);
    const { tools } = await client.listTools();
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    expect(byName.size).toBe(tools.length);
    expect(byName.get('triage')).toMatchObject({
      description: 'Sorts reports. Second line (agent triage)',
      inputSchema: { type: 'object', properties: { title: { type: 'string' }, votes: { type: 'integer' } }, required: ['title'] },
    });
    expect(byName.get('counts')?.inputSchema).toMatchObject({ properties: { input: { type: 'array' }, session: {} }, required: ['input'] });
    expect(byName.get('echo')?.inputSchema).toMatchObject({ properties: { input: { type: 'string' } }, required: ['input'] });
    // An agent that is called like a tool of the fleet does not take its place.
    expect(byName.get('why')).toMatchObject({ title: 'Why a task does not run' });
    const others = tools.filter(({ name }) => /^(?:why|a_b)_[0-9a-f]{8}$/.test(name)).map(({ name }) => name);
    expect(others).toHaveLength(2);
    for (const name of others) expect(await call(client, name, { input: name })).toMatchObject({ text: name });
    await client.close();
  });

  it('are those of the moment: one that is made is there, and one that is removed is not', async () => {
    const client = await connectClient(api);
    await api.call('PUT', '/v1/agents/passing', { body: { kind: 'echo', description: 'For a while' } });
    expect(await call(client, 'passing', { input: 'x' })).toMatchObject({ text: 'x' });
    await api.call('DELETE', '/v1/agents/passing');
    await expect(client.callTool({ name: 'passing', arguments: { input: 'x' } })).rejects.toThrow('not found');
    await client.close();
  });
});

describe.each(eras)('resources for the client of %s', (_era, connect) => {
  it('are tasks and sessions, and no other', async () => {
    const client = (await connect()) as Awaited<ReturnType<typeof connectClient>>;
    const session = `über ${_era}/1`;
    const { body } = await api.call('POST', '/v1/tasks?waitMs=5000', { body: { agent: 'echo', input: 'seen', session } });
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    const ofSession = `muster://sessions/${encodeURIComponent(session)}`;
    expect(uris).toEqual(expect.arrayContaining([`muster://tasks/${body.id}`, ofSession]));
    const read = async (uri: string): Promise<unknown> => {
      const [content] = (await client.readResource({ uri })).contents as { text: string }[];
      return JSON.parse(content?.text ?? '');
    };
    expect(await read(`muster://tasks/${body.id}`)).toMatchObject({ id: body.id, output: 'seen' });
    expect(await read(ofSession)).toMatchObject({ session: { id: session }, turns: [{ taskId: body.id, output: 'seen' }] });
    const templates = (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toEqual(['muster://tasks/{id}', 'muster://sessions/{id}']);
    for (const uri of [
      `muster://tasks/${UNKNOWN}`,
      'muster://tasks/',
      'muster://agents/echo',
      'file:///etc/passwd',
      'muster://sessions/%E0%A4%A',
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(/not found|not encoded/);
    await client.close();
  });
});

it('the client of the AI SDK lists the tools and calls an agent', async () => {
  const transport = { type: 'http' as const, url: `${api.url}/mcp`, headers: { authorization: `Bearer ${api.key}` } };
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  expect(Object.keys(tools)).toEqual(expect.arrayContaining([...FLEET, 'echo', 'triage']));
  const result = await tools['triage']?.execute?.({ title: 'It broke' }, { toolCallId: '1', messages: [], context: {} });
  expect(result).toMatchObject({ structuredContent: { label: 'bug', votes: 0 } });
  await client.close();
});

it('what a tool changes is in the audit log under the name of its endpoint', async () => {
  const key = await api.keyOf('audited', ['admin']);
  await api.call('POST', '/v1/tenants', { body: { id: 'audited' } });
  const client = await connectClient({ url: api.url, key });
  const sent = await call(client, 'send_task', { agent: 'echo', input: 'x', scheduledFor: '2099-01-01T00:00:00Z' });
  const { id } = sent.structuredContent as { id: string };
  await call(client, 'cancel_task', { id });
  await call(client, 'cancel_task', { id: UNKNOWN });
  const { items } = (await api.call('GET', '/v1/audit', { key })).body as { items: unknown[] };
  expect(items).toMatchObject([
    { action: 'cancelTask', object: `tasks/${UNKNOWN}`, outcome: 'refused', code: 'task.not-found', via: 'api' },
    { action: 'cancelTask', object: `tasks/${id}`, outcome: 'done' },
  ]);
  await client.close();
});
