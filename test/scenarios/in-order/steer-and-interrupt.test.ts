import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { JournalEntry } from '../../support/fleet/journal.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let workers: ServiceProcess[];

beforeAll(async () => {
  fleet = await openFleet({ settings: { worker: { leaseMs: 2000 } } });
  await fleet.start('api');
  workers = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
});
afterAll(async () => {
  await fleet.stop();
});

const say = (session: string, input: string, mode: 'steer' | 'interrupt' = 'steer', paceMs = 100): Promise<string> =>
  fleet.client.submit({ agent: 'echo', session, input, mode, context: { paceMs } });

const outcomeOf = async (id: string): Promise<object | null> => (await fleet.client.task(id)).outcome;

/** Long enough to be met by what follows, in words. */
const LONG = 'word '.repeat(30).trim();

describe('a message for a running task', () => {
  it('goes into its run, in whichever process that is', async () => {
    const id = await say('talk', LONG);
    await fleet.client.reaches(id, ['running']);
    const message = await say('talk', 'and this');
    const [task, part] = await fleet.client.ended([id, message], 20_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1, output: `${LONG}\n\nand this` });
    expect(part).toMatchObject({ status: 'skipped', outcome: { kind: 'steered', taskId: id }, startedAt: null });
  });

  it('is in the next attempt when the worker that took it is killed', async () => {
    const id = await say('killed', `${LONG} ${LONG}`);
    await fleet.client.reaches(id, ['running']);
    const message = await say('killed', 'not to be lost');
    await waitFor(async () => (await outcomeOf(message)) !== null, { deadlineMs: 20_000, what: 'the message to be taken' });
    const [attempt] = await fleet.client.attempts(id);
    const holder = workers.find(({ pid }) => attempt?.worker.includes(`-${pid}-`));
    await holder?.kill();
    // No agent receives this message; it waits for the next attempt, or for its own turn.
    const later = await say('killed', 'said to nobody');
    const [task, taken, last] = await fleet.client.ended([id, message, later], 40_000);
    expect(task).toMatchObject({ status: 'completed', attempt: 1 });
    expect(taken).toMatchObject({ status: 'skipped', outcome: { kind: 'steered', taskId: id } });
    expect(task?.output?.split('not to be lost')).toHaveLength(2);
    expect(`${task?.output}${last?.output}`.split('said to nobody')).toHaveLength(2);
    expect(await fleet.client.attempts(id)).toMatchObject([
      { status: 'interrupted', error: { code: 'WORKER_LOST' } },
      { status: 'success' },
    ]);
    await fleet.start('worker');
  });

  it('reaches by its own address a task without a session', async () => {
    const id = await fleet.client.submit({ agent: 'echo', input: LONG, context: { paceMs: 100 } });
    await fleet.client.reaches(id, ['running']);
    const { status, body } = await fleet.client.call('POST', `/v1/tasks/${id}/input`, { body: { text: 'by the way' } });
    expect(status).toBe(202);
    const [task, part] = await fleet.client.ended([id, String(body.id)], 20_000);
    expect(task).toMatchObject({ status: 'completed', output: `${LONG}\n\nby the way` });
    expect(part).toMatchObject({ status: 'skipped', outcome: { kind: 'steered', taskId: id } });
  });
});

const ROUNDS = 100;

const found = async (event: JournalEntry['event'], task: string): Promise<JournalEntry> =>
  await waitFor(() => fleet.journal().find((entry) => entry.event === event && entry.task === task), {
    deadlineMs: 20_000,
    everyMs: 5,
    what: `the ${event} of ${task}`,
  });

describe('a message that interrupts', () => {
  it('aborts the agent in another process, and only the last one comes to its end', async () => {
    const interrupt = (workMs: number): Promise<string> =>
      fleet.client.submit({ session: 'cut', mode: 'interrupt', context: { workMs: [workMs] } });
    const ids = [await interrupt(120_000)];
    const toAbortMs: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = ids.at(-1) ?? '';
      await found('start', before);
      const offeredAt = Date.now();
      ids.push(await interrupt(round < ROUNDS ? 120_000 : 0));
      toAbortMs.push((await found('abort', before)).at - offeredAt);
    }
    const tasks = await fleet.client.ended(ids, 20_000);
    const sorted = toAbortMs.toSorted((a, b) => a - b);
    const at = (share: number): string => `${sorted[Math.ceil(ROUNDS * share) - 1]} ms`;
    reportFigure('interrupt, from its HTTP request to the abort in another process', `p50 ${at(0.5)}, p99 ${at(0.99)} of ${ROUNDS}`);
    expect(tasks.at(-1)).toMatchObject({ status: 'completed', outcome: { kind: 'ran' } });
    expect(tasks.slice(0, -1).map(({ status, outcome }) => [status, outcome])).toEqual(
      ids.slice(1).map((next) => ['cancelled', expect.objectContaining({ kind: 'superseded', taskId: next })]),
    );
    expect(fleet.journal().filter(({ event }) => event === 'end')).toHaveLength(1);
  });
});
