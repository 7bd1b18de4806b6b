import { expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { releaseIfResumed } from '#shared/ledger/settle/agent-starts.ts';
import { awaitEnd, awaitEndOrHold } from '../../../support/agents/await-task.ts';
import type { Reply } from '../../../support/call-api.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ agents: { echo: { kind: 'echo' }, other: { kind: 'echo' } }, runaways: { maxFailures: 0 } });
await useWorker(api.parts);
const { parts } = api;

type Call = (method: string, path: string, body?: object) => Promise<Reply>;

async function useTenant(tenant: string, scopes: Parameters<typeof api.keyOf>[1] = ['operate']): Promise<Call> {
  const key = await api.keyOf(tenant, scopes);
  return (method, path, body) => api.call(method, path, { key, ...(body ? { body } : {}) });
}

/** Submits after the worker has forgotten that the agent may start, which it does within a second. */
async function submit(call: Call, tenant: string, agent = 'echo'): Promise<string> {
  parts.ledger.working.delete(`${tenant}/${agent}`);
  const { status, body } = await call('POST', '/v1/tasks', { agent, input: 'hello' });
  expect(status).toBe(202);
  return body.id;
}

it('holds the tasks of a paused agent and of no other, says why, and lets them go on in order when it is resumed', async () => {
  const call = await useTenant('pausing');
  const paused = await call('POST', '/v1/agents/echo/pause', { reason: 'the release broke it' });
  const reason = expect.stringMatching(/^the agent echo is paused by .+ since \d{4}-.+: the release broke it$/);
  expect(paused).toMatchObject({ status: 200, body: { id: 'echo', hold: { gate: 'agent', reason } } });
  const ids = [await submit(call, 'pausing'), await submit(call, 'pausing')];
  for (const id of ids) {
    const { state } = await awaitEndOrHold(parts, id, 'pausing');
    expect(state).toMatchObject({ status: 'queued', gate: 'agent', spent: 0, error: { code: 'AGENT_PAUSED' } });
  }
  expect((await awaitEnd(parts, await submit(call, 'pausing', 'other'), 'pausing')).state.status).toBe('completed');
  const { body: why } = await call('GET', `/v1/tasks/${ids[1]}/why`);
  expect(why.gates[0]).toMatchObject({ gate: 'agent', detail: reason, facts: { agent: 'echo', reason: 'the release broke it', held: 2 } });
  const { body: list } = await call('GET', '/v1/agents');
  expect(list.items.map(({ id, hold }: { id: string; hold: unknown }) => [id, hold !== null])).toEqual([
    ['echo', true],
    ['other', false],
  ]);
  expect(await call('POST', '/v1/agents/echo/resume')).toMatchObject({ status: 200, body: { hold: null } });
  const ended = await Promise.all(ids.map((id) => awaitEnd(parts, id, 'pausing')));
  expect(ended.map(({ state }) => [state.status, state.outcome])).toEqual([
    ['completed', { kind: 'ran' }],
    ['completed', { kind: 'ran' }],
  ]);
});

it('is a matter of one tenant, and of keys that operate', async () => {
  const call = await useTenant('patient');
  const neighbour = await useTenant('neighbour');
  await call('POST', '/v1/agents/echo/pause');
  expect((await awaitEnd(parts, await submit(neighbour, 'neighbour'), 'neighbour')).state.status).toBe('completed');
  const submitter = await useTenant('patient', ['submit']);
  expect(await submitter('POST', '/v1/agents/echo/resume')).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
  expect(await call('POST', '/v1/agents/nobody/pause')).toMatchObject({ status: 404, body: { code: 'agent.not-found' } });
  expect(await call('POST', '/v1/agents/echo/pause', { reason: '' })).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  expect(await call('POST', '/v1/agents/echo/pause', { reason: 'y'.repeat(301) })).toMatchObject({ status: 422 });
  expect((await call('GET', '/v1/agents/echo')).body.hold.gate).toBe('agent');
});

it('releases a task that was held while a person resumed the agent', async () => {
  const call = await useTenant('racing');
  await call('POST', '/v1/agents/echo/pause');
  const id = await submit(call, 'racing');
  const { hold } = (await awaitEndOrHold(parts, id, 'racing')).state;
  if (!hold) throw new Error('The task is not held');
  await releaseIfResumed(parts.ledger, 'racing', hold);
  expect((await readTask(parts.ledger, 'racing', id))?.state.gate).toBe('agent');
  await parts.redis.hdel(parts.keys.tenant('racing').pausedAgents, 'echo');
  await releaseIfResumed(parts.ledger, 'racing', hold);
  expect((await awaitEnd(parts, id, 'racing')).state.status).toBe('completed');
});

it('ends with the agent, so that the next one of its name may start', async () => {
  const call = await useTenant('replacing');
  const agent = { kind: 'http', url: 'https://writer.example.com/run' };
  await call('PUT', '/v1/agents/writer', agent);
  await call('POST', '/v1/agents/writer/pause');
  expect((await call('DELETE', '/v1/agents/writer')).status).toBe(204);
  expect(await call('PUT', '/v1/agents/writer', agent)).toMatchObject({ status: 201, body: { hold: null } });
});
