import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentFunction } from '#shared/config/index.ts';
import { callMcp, FORMS, TASKS } from '../../../support/agents/mcp/call-mcp.ts';
import { connectClient, connectLegacyClient } from '../../../support/agents/mcp/mcp-clients.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startApi } from '../support/start-api.ts';

/** Asks what its input says, as JSON, and answers with the answer. */
const asks: AgentFunction = async ({ input }, context) => ({ result: { answer: await context.ask(JSON.parse(input) as never) } });
/** Reports how far it is, and goes on when it is stopped. */
const reports: AgentFunction = async (_task, { progress, signal }) => {
  progress('half of it', 50);
  await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
};
/** Asks by a schema of zod. */
const details: AgentFunction = async (_task, context) => {
  const schema = z.object({ env: z.enum(['test', 'live']), copies: z.number().int(), loud: z.boolean() });
  return { result: await context.ask({ question: 'Where?', schema }) };
};
const nested: AgentFunction = async (_task, context) => {
  const schema = z.object({ tags: z.array(z.string()) });
  return { result: await context.ask({ question: 'Which tags?', schema }) };
};

const { url: redisUrl } = await useRedis();
const settings = {
  agents: {
    echo: { kind: 'echo' as const },
    asks: { kind: 'function' as const, run: asks },
    details: { kind: 'function' as const, run: details },
    nested: { kind: 'function' as const, run: nested },
    reports: { kind: 'function' as const, run: reports },
    fails: { kind: 'function' as const, run: () => Promise.reject(new Error('no luck')) },
  },
  retries: { api: { maxAttempts: 1 } },
};
/** Two processes of the API on one Redis. */
const [api, replica] = await Promise.all([startApi(redisUrl, settings), startApi(redisUrl, settings)]);
afterAll(() => Promise.all([api.close(), replica.close()]));
await useWorker(api.parts);

const one = { url: api.url, key: api.key };
const other = { url: replica.url, key: api.key };
const ABLE = { ...TASKS, ...FORMS };
const CHOICE = JSON.stringify({ question: 'Deploy?', choices: ['yes', 'no'] });

type Body = Awaited<ReturnType<typeof callMcp>>['body'];

const callTool = async (name: string, given: object, capabilities: object = ABLE, more: object = {}): Promise<Body> =>
  (await callMcp(one, 'tools/call', { params: { name, arguments: given, ...more }, capabilities })).body;

/** Asks the other process until the task stands so. */
async function getTask(taskId: string, status: string): Promise<Body> {
  const isThere = async (): Promise<Body> => {
    const { body } = await callMcp(other, 'tasks/get', { params: { taskId }, capabilities: ABLE });
    return body.result?.status === status ? body.result : undefined;
  };
  return await waitFor(isThere, { deadlineMs: 20_000, everyMs: 50, what: `the task to be ${status}` });
}

const update = (taskId: string, inputResponses: object): ReturnType<typeof callMcp> =>
  callMcp(other, 'tasks/update', { params: { taskId, inputResponses }, capabilities: ABLE });

/** An echo that takes so long that a handle is answered. */
const slow = (input: string): { input: string; session: string } => ({ input, session: randomUUID() });

async function startSlow(): Promise<Body> {
  // Behind another task of its session, which ends later than a handle is answered.
  const session = randomUUID();
  await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'a b c d e f', context: { paceMs: 700 }, session } });
  return (await callTool('echo', { ...slow('at last'), session })).result;
}

describe('a client that takes handles of tasks', () => {
  it('gets one for what takes long, and the result from any process of the API', async () => {
    const handle = await startSlow();
    expect(handle).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000 });
    expect(handle.statusMessage).toMatch(/^behind task /);
    expect((await api.call('GET', `/v1/tasks/${handle.taskId}`)).status).toBe(200);
    const ended = await getTask(handle.taskId, 'completed');
    expect(ended).toMatchObject({ taskId: handle.taskId, createdAt: handle.createdAt, resultType: 'complete' });
    expect(ended.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: 'at last' }] });
    expect(ended.ttlMs).toBeGreaterThan(api.parts.settings.tasks.retentionMs - 1);
    expect(Date.parse(ended.lastUpdatedAt)).toBeGreaterThan(Date.parse(ended.createdAt));
  });

  it('learns how far it is', async () => {
    const { taskId, statusMessage } = (await callTool('reports', { input: 'x' })).result;
    expect(statusMessage).toBe('the task is running: 50 %: half of it');
    await callMcp(one, 'tasks/cancel', { params: { taskId }, capabilities: ABLE });
  });

  it('gets what ends soon as a result at once', async () => {
    expect((await callTool('echo', { input: 'soon' })).result).toMatchObject({ resultType: 'complete', content: [{ text: 'soon' }] });
  });

  it('gets a failure of the agent as a result that is an error', async () => {
    expect((await callTool('fails', { input: 'x' })).result).toMatchObject({ resultType: 'complete', isError: true });
    const { body } = await api.call('POST', '/v1/tasks?waitMs=10000', { body: { agent: 'fails', input: 'x' } });
    expect(await getTask(body.id, 'completed')).toMatchObject({ result: { resultType: 'complete', isError: true } });
  });

  it('stops one, which is acknowledged also a second time', async () => {
    const { taskId } = await startSlow();
    for (let times = 0; times < 2; times += 1) {
      const { body } = await callMcp(other, 'tasks/cancel', { params: { taskId }, capabilities: ABLE });
      expect(body.result).toMatchObject({ resultType: 'complete' });
    }
    expect(await getTask(taskId, 'cancelled')).not.toHaveProperty('result');
    expect((await api.call('GET', `/v1/tasks/${taskId}`)).body.status).toBe('cancelled');
  });

  it('gets the question of a run as required input, and its answer resumes the run', async () => {
    const { taskId } = (await callTool('asks', { input: CHOICE })).result;
    const { inputRequests } = await getTask(taskId, 'input_required');
    const [[id, form] = ['', {}]] = Object.entries(inputRequests as object);
    expect((await api.call('GET', `/v1/questions/${id}`)).body).toMatchObject({ status: 'open' });
    expect(form).toEqual({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Deploy?',
        requestedSchema: { type: 'object', properties: { answer: { type: 'string', enum: ['yes', 'no'] } }, required: ['answer'] },
      },
    });
    // Whoever goes away answers nothing.
    for (const action of ['cancel', 'decline'])
      expect((await update(taskId, { [id]: { action } })).body.result).toMatchObject({ resultType: 'complete' });
    expect((await api.call('GET', `/v1/questions/${id}`)).body).toMatchObject({ status: 'open' });
    const wrong = await update(taskId, { [id]: { action: 'accept', content: { answer: 'maybe' } } });
    expect(wrong.body.error).toMatchObject({ code: -32_602, data: { code: 'question.invalid' } });
    const answers = { [id]: { action: 'accept', content: { answer: 'yes' } } };
    expect((await update(taskId, answers)).body.result).toMatchObject({ resultType: 'complete' });
    // The same once more, as after a lost answer, and one for nothing that is asked.
    expect((await update(taskId, answers)).body.result).toMatchObject({ resultType: 'complete' });
    expect((await update(taskId, { other: { action: 'accept', content: {} } })).body.result).toMatchObject({ resultType: 'complete' });
    expect(await getTask(taskId, 'completed')).toMatchObject({ result: { structuredContent: { answer: 'yes' } } });
  });

  it.each([
    [
      'details',
      { type: 'object', required: ['env', 'copies', 'loud'] },
      { env: 'live', copies: 2, loud: false },
      { env: 'live', copies: 2, loud: false },
    ],
    ['nested', { type: 'object', required: ['answer'] }, { answer: '{"tags":["a","b"]}' }, { tags: ['a', 'b'] }],
  ])('is asked %s by a form of simple fields', async (agent, schema, content, result) => {
    const { taskId } = (await callTool(agent, { input: 'x' })).result;
    const { inputRequests } = await getTask(taskId, 'input_required');
    const [[id, form] = ['', {}]] = Object.entries(inputRequests as object);
    expect(form).toMatchObject({ params: { requestedSchema: schema } });
    expect((await update(taskId, { [id]: { action: 'accept', content } })).body.error).toBeUndefined();
    expect(await getTask(taskId, 'completed')).toMatchObject({ result: { structuredContent: result } });
  });

  it('is not asked what it may not answer', async () => {
    const key = await api.keyOf('default', ['submit']);
    const params = { name: 'asks', arguments: { input: CHOICE } };
    const { taskId } = (await callMcp({ ...one, key }, 'tools/call', { params, capabilities: ABLE })).body.result;
    const { body } = await callMcp({ ...other, key }, 'tasks/get', { params: { taskId }, capabilities: ABLE });
    expect(body.result).toMatchObject({ status: 'working', statusMessage: 'a person is asked: Deploy?' });
    expect(body.result).not.toHaveProperty('inputRequests');
    const [id] = Object.keys((await getTask(taskId, 'input_required')).inputRequests as object);
    const params2 = { taskId, inputResponses: { [id ?? '']: { action: 'accept', content: { answer: 'yes' } } } };
    const refused = await callMcp({ ...other, key }, 'tasks/update', { params: params2, capabilities: ABLE });
    expect(refused.body.error).toMatchObject({ code: -32_602, data: { code: 'auth.forbidden' } });
    expect((await api.call('GET', `/v1/questions/${id}`)).body).toMatchObject({ status: 'open' });
  });
});

describe('a client of 2026-07-28 that takes no handles', () => {
  it('puts the question to its person and gets the result of the same task in the second round', async () => {
    const client = await connectClient(api, { capabilities: { elicitation: { form: {} } } });
    const asked: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { answer: 'no' } };
    });
    const before = (await api.call('GET', '/v1/tasks?agent=asks&limit=200')).body.items.length as number;
    const result = await client.callTool({ name: 'asks', arguments: { input: CHOICE } });
    expect(asked).toEqual(['Deploy?']);
    expect(result).toMatchObject({ structuredContent: { answer: 'no' } });
    expect((await api.call('GET', '/v1/tasks?agent=asks&limit=200')).body.items).toHaveLength(before + 1);
    await client.close();
  });

  it('is asked again in a further round by a session, which makes no second message', async () => {
    const session = randomUUID();
    const given = { session, text: CHOICE, agent: 'asks' };
    const first = await callTool('ask_session', given, FORMS);
    expect(first.result).toMatchObject({ resultType: 'input_required' });
    const { inputRequests, requestState } = first.result as { inputRequests: object; requestState: string };
    const inputResponses = { [Object.keys(inputRequests)[0] ?? '']: { action: 'accept', content: { answer: 'yes' } } };
    const second = await callTool('ask_session', given, FORMS, { inputResponses, requestState });
    expect(second.result).toMatchObject({ resultType: 'complete', structuredContent: { answer: 'yes' } });
    expect((await api.call('GET', `/v1/tasks?session=${session}`)).body.items).toHaveLength(1);
  });

  it('is told how to answer when its person left the question, or none is there', async () => {
    const first = (await callTool('asks', { input: CHOICE }, FORMS)).result;
    const [id = ''] = Object.keys(first.inputRequests as object);
    const more = { inputResponses: { [id]: { action: 'decline' } }, requestState: first.requestState as string };
    const left = (await callTool('asks', { input: CHOICE }, FORMS, more)).result;
    expect(left).toMatchObject({ structuredContent: { taskId: first.requestState, ended: false } });
    expect(left.content[0].text).toContain(`"Deploy?" (question ${id}); answer_question answers it`);
    const unasked = (await callTool('asks', { input: CHOICE }, {})).result;
    expect(unasked).toMatchObject({ resultType: 'complete', structuredContent: { ended: false } });
  });

  it.each([
    ['of another agent', async () => (await startSlow()).taskId as string],
    ['that is no id', () => Promise.resolve('{"tenant":"other"}')],
    ['that nobody has', () => Promise.resolve('01ARZ3NDEKTSV4RRFFQ69G5FAV')],
  ])('is refused a second round with the state of a task %s', async (_what, stateOf) => {
    const requestState = await stateOf();
    const answer = await callTool('asks', { input: CHOICE }, FORMS, { requestState, inputResponses: {} });
    expect(answer.result).toMatchObject({ isError: true, structuredContent: { code: 'task.not-found' } });
  });
});

it('a client of 2025-11-25 learns of the question, and answers it with a tool', async () => {
  const client = await connectLegacyClient(api);
  const open = await client.callTool({ name: 'asks', arguments: { input: CHOICE } });
  const { taskId } = open.structuredContent as { taskId: string };
  const [, id] = /\(question ([^)]+)\)/.exec((open.content as { text: string }[])[0]?.text ?? '') ?? [];
  expect(open.isError).toBeUndefined();
  await client.callTool({ name: 'answer_question', arguments: { id, answer: 'yes' } });
  await getTask(taskId, 'completed');
  expect((await client.callTool({ name: 'get_task', arguments: { id: taskId } })).structuredContent).toMatchObject({
    result: { answer: 'yes' },
  });
  await client.close();
});
