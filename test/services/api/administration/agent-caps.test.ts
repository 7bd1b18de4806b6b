import { expect, it } from 'vitest';
import { AgentCaps } from '#shared/agents/agent-caps.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const { redis, keys, log } = api.parts;

const put = async (id: string, maxRunning?: number): Promise<number> =>
  (await api.call('PUT', `/v1/agents/${id}`, { body: { kind: 'echo', maxRunning } })).status;

async function submit(agent: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await api.call('POST', '/v1/tasks', { body: { agent, input: 'x' } })).body.id);
  return ids;
}

const statusOf = async (id = ''): Promise<string> => (await api.call('GET', `/v1/tasks/${id}`)).body.status;

async function untilStatuses(ids: readonly string[], wanted: string[]): Promise<void> {
  const read = async (): Promise<boolean> => (await Promise.all(ids.map((id) => statusOf(id)))).join() === wanted.join();
  await waitFor(read, { deadlineMs: 10_000, what: `the tasks to be ${wanted.join()}` });
}

it('how many tasks of an agent run at once follows what it is changed to, for those that wait too', async () => {
  expect(await put('writer', 1)).toBe(201);
  const ids = await submit('writer', 4);
  await untilStatuses(ids, ['queued', 'pending', 'pending', 'pending']);
  expect(await put('writer', 2)).toBe(200);
  await untilStatuses(ids, ['queued', 'queued', 'pending', 'pending']);
  expect((await api.call('GET', '/v1/agents/writer')).body.maxRunning).toBe(2);
  await put('writer', 1);
  await api.call('POST', `/v1/tasks/${ids[0]}/cancel`);
  await untilStatuses(ids, ['cancelled', 'queued', 'pending', 'pending']);
  await put('writer');
  await untilStatuses(ids, ['cancelled', 'queued', 'queued', 'queued']);
  expect((await api.call('GET', '/v1/agents/writer')).body.maxRunning).toBeNull();
});

it('is known to every process, and forgotten with the agent', async () => {
  const other = new AgentCaps({ redis, keys, log, seal: new Seal() });
  await put('editor', 3);
  await other.refresh();
  expect(other.of('default')).toMatchObject({ editor: 3 });
  expect(other.of('acme')).toEqual({});
  await api.call('DELETE', '/v1/agents/editor');
  await other.refresh();
  expect(Object.keys(other.of('default'))).not.toContain('editor');
});

it('an agent of an earlier release that had a bound has none once it is put without one', async () => {
  await redis.hset(keys.tenant('default').agents, 'old', JSON.stringify({ kind: 'echo', maxRunning: 1 }));
  const ids = await submit('old', 2);
  await untilStatuses(ids, ['queued', 'pending']);
  expect(await put('old')).toBe(200);
  await untilStatuses(ids, ['queued', 'queued']);
});
