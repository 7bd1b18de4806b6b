import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callMcp, FORMS, TASKS } from '../../support/agents/mcp/call-mcp.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { freePort } from '../../support/free-port.ts';
import { childEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const WORKING = fileURLToPath(import.meta.resolve('../../support/fleet/fleet-agent.ts'));
const ASKING = fileURLToPath(import.meta.resolve('../../support/agents/asking-agent.ts'));
const MUSTER = fileURLToPath(import.meta.resolve('../../../services/local/muster.mjs'));
const ABLE = { ...TASKS, ...FORMS };

let fleet: Fleet;
let api: ServiceProcess;
let replica: ServiceProcess;
let port: string;

beforeAll(async () => {
  const slow = { kind: 'function' as const, file: WORKING };
  fleet = await openFleet({ settings: { agents: { 'work-5000': slow, asks: { kind: 'function', file: ASKING } } } });
  port = String(await freePort());
  api = await fleet.start('api', { PORT: port });
  replica = await fleet.start('api');
  await fleet.start('worker');
});
afterAll(() => fleet.stop());

type Body = Awaited<ReturnType<typeof callMcp>>['body'];

const at = ({ url }: ServiceProcess): { url: string; key: string } => ({ url, key: fleet.adminKey });

async function restartApi(): Promise<void> {
  await api.kill();
  api = await fleet.start('api', { PORT: port });
}

async function reaches(service: () => ServiceProcess, taskId: string, status: string): Promise<Body> {
  const isThere = async (): Promise<Body> => {
    const { body } = await callMcp(at(service()), 'tasks/get', { params: { taskId }, capabilities: ABLE });
    return body.result?.status === status ? body.result : undefined;
  };
  return await waitFor(isThere, { deadlineMs: 30_000, everyMs: 100, what: `the task to be ${status}` });
}

it('a handle of a task is good at every process of the API, also at one that was started after it', async () => {
  const call = { params: { name: 'work-5000', arguments: { input: 'to do' } }, capabilities: ABLE };
  const { taskId, status } = (await callMcp(at(api), 'tools/call', call)).body.result;
  expect(status).toBe('working');
  await api.kill();
  expect(await reaches(() => replica, taskId, 'working')).toMatchObject({ taskId });
  api = await fleet.start('api', { PORT: port });
  const ended = await reaches(() => api, taskId, 'completed');
  expect(ended).toEqual(await reaches(() => replica, taskId, 'completed'));
  expect(ended.result).toMatchObject({ structuredContent: { run: 1 } });
  expect(fleet.journal().filter(({ task, event }) => task === taskId && event === 'start')).toHaveLength(1);
});

it('a question that was asked before is answered after, at the other process, and the run goes on', async () => {
  const given = { agent: 'asks', input: 'x', context: { ask: { question: 'Deploy?', choices: ['yes', 'no'] } } };
  const sent = await callMcp(at(api), 'tools/call', { params: { name: 'send_task', arguments: given } });
  const { id } = sent.body.result.structuredContent;
  const { inputRequests } = await reaches(() => api, id, 'input_required');
  await restartApi();
  const [question = ''] = Object.keys(inputRequests as object);
  const inputResponses = { [question]: { action: 'accept', content: { answer: 'yes' } } };
  const answered = await callMcp(at(replica), 'tasks/update', { params: { taskId: id, inputResponses }, capabilities: ABLE });
  expect(answered.body.result).toMatchObject({ resultType: 'complete' });
  expect(await reaches(() => api, id, 'completed')).toMatchObject({ result: { structuredContent: { answer: 'yes' } } });
});

it('a call whose answer was cut off has made one task, which ends', async () => {
  const params = { name: 'work-5000', arguments: { input: 'cut off' } };
  const calling = callMcp(at(api), 'tools/call', { params }).catch((error: unknown) => error);
  const find = async (): Promise<{ id: string; status: string }[]> => {
    const listed = await callMcp(at(replica), 'tools/call', { params: { name: 'list_tasks', arguments: { q: 'cut off' } } });
    return listed.body.result.structuredContent.items;
  };
  await waitFor(async () => (await find()).some(({ status }) => status === 'running'), { deadlineMs: 20_000, what: 'the task to run' });
  await restartApi();
  expect(await calling).toBeInstanceOf(Error);
  const [task] = await find();
  expect(await find()).toHaveLength(1);
  expect(await reaches(() => api, task?.id ?? '', 'completed')).toMatchObject({ result: { structuredContent: { run: 1 } } });
});

it('a host that started muster mcp goes on with its connection', async () => {
  const env = childEnvironment({ MUSTER_URL: api.url, MUSTER_API_KEY: fleet.adminKey });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [MUSTER, 'mcp'], env }));
  expect(await client.callTool({ name: 'echo', arguments: { input: 'before' } })).toMatchObject({ content: [{ text: 'before' }] });
  await api.kill();
  const listing = client.listTools();
  api = await fleet.start('api', { PORT: port });
  expect((await listing).tools.map(({ name }) => name)).toContain('echo');
  expect(await client.callTool({ name: 'echo', arguments: { input: 'after' } })).toMatchObject({ content: [{ text: 'after' }] });
  await client.close();
});
