import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { SLEEPS } from '../../support/fleet/runs/sleeping-agent.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const RUNS = testEnvironment.isChaos ? 150 : 20;
const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/sleeping-agent.ts'));

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet({ settings: { agents: { sleeping: { kind: 'function', file: FILE, holdLane: '2s' } } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const suspended = async (): Promise<number> =>
  ((await fleet.client.call('GET', '/v1/tasks?status=suspended&limit=200')).body['items'] as unknown[]).length;

describe('a run that sleeps', () => {
  it('has no slot meanwhile, and goes on by itself when its worker and Redis were killed', async () => {
    const worker = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2,maintenance=1' });
    const submit = (): Promise<string> => fleet.client.submit({ agent: 'sleeping', context: { sleeps: [9000, 10, 5500] } });
    const ids = await Promise.all(Array.from({ length: RUNS }, submit));
    await waitFor(async () => (await suspended()) === RUNS, { deadlineMs: 60_000, what: 'all runs to be suspended' });
    const [first = ''] = ids;
    const why = (await fleet.client.call('GET', `/v1/tasks/${first}/why`)).body;
    expect(why).toMatchObject({ status: 'suspended', reasons: [{ gate: 'sleep', until: expect.any(String) }] });
    // The two slots are free for others.
    await fleet.client.ended([await fleet.client.submit({})], 20_000);
    await worker.kill();
    await fleet.redis.kill('SIGKILL');
    await fleet.redis.restart();
    await fleet.start('worker', { MUSTER_QUEUES: 'tasks=2,maintenance=1' });
    const tasks = await fleet.client.ended(ids, 60_000);
    const output = [0, 1, 2].map((at) => `before ${at} after ${at} `).join('');
    expect(tasks.map(({ status, attempt, output: given }) => [status, attempt, given])).toEqual(ids.map(() => ['completed', 1, output]));
    const lines = readFileSync(`${fleet.directory}/${SLEEPS}`, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(RUNS * 3);
    const attempts = (await fleet.client.attempts(first)).map(({ status }) => status);
    expect(attempts).toEqual(['suspended', 'suspended', 'success']);
  });

  it('keeps its lane for a while, lets others of it go first after that, and ends by a cancel', async () => {
    await fleet.start('worker');
    const sleeping = await fleet.client.submit({ agent: 'sleeping', session: 's', mode: 'queue', context: { sleeps: [60_000] } });
    await fleet.client.reaches(sleeping, ['suspended']);
    const behind = await fleet.client.submit({ session: 's', mode: 'queue' });
    const since = Date.now();
    await fleet.client.ended([behind], 20_000);
    expect(Date.now() - since).toBeGreaterThan(500);
    expect((await fleet.client.task(sleeping)).status).toBe('suspended');
    await fleet.client.call('POST', `/v1/tasks/${sleeping}/cancel`);
    const [cancelled] = await fleet.client.ended([sleeping], 20_000);
    expect(cancelled?.status).toBe('cancelled');
  });

  it('fails at its deadline', async () => {
    await fleet.start('worker');
    const deadline = new Date(Date.now() + 3000).toISOString();
    const id = await fleet.client.submit({ agent: 'sleeping', deadline, context: { sleeps: [60_000] } });
    const [task] = await fleet.client.ended([id], 20_000);
    expect(task).toMatchObject({ status: 'permanently_failed', error: { code: 'DEADLINE_PASSED' }, outcome: { kind: 'expired' } });
  });
});
