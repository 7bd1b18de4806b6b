import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QueueMode } from '#shared/config/index.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';

const FILE = fileURLToPath(import.meta.resolve('../../support/agents/asking-agent.ts'));
const ASKING = { kind: 'function', file: FILE } as const;
const ENDED_MS = 60_000;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ settings: { agents: { asking: ASKING, yielding: { ...ASKING, holdLane: 1 } } } });
  await fleet.start('api');
  await fleet.start('worker');
});
afterAll(async () => {
  await fleet.stop();
});

/** A run that asks in a session, and its question. */
async function ask(session: string, agent = 'asking'): Promise<{ task: string; question: string }> {
  const task = await fleet.client.submit({ agent, session, context: { ask: { question: 'Go on?', choices: ['yes', 'no'] } } });
  await fleet.client.reaches(task, ['suspended']);
  const { items } = (await fleet.client.call('GET', `/v1/questions?status=open&taskId=${task}`)).body as { items: { id: string }[] };
  return { task, question: items[0]?.id ?? '' };
}

const say = async (session: string, text: string, mode?: QueueMode): Promise<Record<string, unknown>> =>
  (await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text, agent: 'work', ...(mode && { mode }) } })).body;
const answer = async (question: string): Promise<unknown> =>
  (await fleet.client.call('POST', `/v1/questions/${question}/answer`, { body: { answer: 'yes' } })).status;
const statusOf = async (task: string): Promise<string> => (await fleet.client.task(task)).status;

const MODES = ['queue', 'collect', 'steer', 'interrupt', 'latest', 'reject'] as const satisfies readonly QueueMode[];

describe('a message that meets a run that asks people', () => {
  it.each(MODES)('in its lane leaves it alone in mode %s, and has its turn after it unless it is rejected', async (mode) => {
    const session = `lane-${mode}`;
    const { task, question } = await ask(session);
    const message = await say(session, 'And then?', mode);
    const isRejected = mode === 'reject';
    expect(message).toMatchObject({ status: isRejected ? 'cancelled' : 'pending', outcome: isRejected ? { kind: 'rejected' } : null });
    expect(await statusOf(task)).toBe('suspended');
    expect(await answer(question)).toBe(200);
    const [run, other] = await fleet.client.ended([task, String(message['id'])], ENDED_MS);
    expect(run).toMatchObject({ status: 'completed', result: { answer: 'yes' } });
    expect(other?.status).toBe(isRejected ? 'cancelled' : 'completed');
    const endedAt = run?.completedAt ?? '';
    expect(Date.parse(other?.startedAt ?? endedAt)).toBeGreaterThanOrEqual(Date.parse(endedAt));
  });

  it.each(MODES)('that has left its lane runs beside it in mode %s', async (mode) => {
    const session = `beside-${mode}`;
    const { task, question } = await ask(session, 'yielding');
    // Once this one has run, the lane is free.
    await fleet.client.ended([String((await say(session, 'First'))['id'])], ENDED_MS);
    const [beside] = await fleet.client.ended([String((await say(session, 'And then?', mode))['id'])], ENDED_MS);
    expect([beside?.status, await statusOf(task)]).toEqual(['completed', 'suspended']);
    expect(await answer(question)).toBe(200);
    expect((await fleet.client.ended([task], ENDED_MS))[0]).toMatchObject({ status: 'completed', result: { answer: 'yes' } });
  });

  it.each(['asking', 'yielding'])('as /stop ends the run of %s, and withdraws its question', async (agent) => {
    const session = `stop-${agent}`;
    const { task, question } = await ask(session, agent);
    expect(await say(session, '/stop')).toMatchObject({ command: 'stop' });
    expect((await fleet.client.ended([task], ENDED_MS))[0]?.status).toBe('cancelled');
    const { body } = await fleet.client.call('GET', `/v1/questions/${question}`);
    expect(body).toMatchObject({ status: 'withdrawn', answer: null, answeredBy: null });
    expect(await answer(question)).toBe(409);
    expect((await fleet.client.call('GET', '/v1/questions?status=open')).body).toMatchObject({ items: [] });
  });
});
