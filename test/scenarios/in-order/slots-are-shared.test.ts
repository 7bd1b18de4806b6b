import { afterEach, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

const ROUNDS = testEnvironment.isChaos ? 20 : 2;
/** Of a worker's 28 slots, 6 are kept for critical tasks. */
const SLOTS = 22;
const DEADLINE = { deadlineMs: 60_000 };

afterEach(async () => {
  await fleet.stop();
});

async function open(settings: Record<string, unknown> = {}): Promise<void> {
  fleet = await openFleet({ settings: { limits: { backpressure: { warningDepth: 50_000 } }, ...settings } });
  await fleet.start('api');
  await fleet.start('worker');
}

interface Start {
  task: string;
  input: string;
}

const starts = (): Start[] => fleet.journal().filter(({ event }) => event === 'start');
const running = (): Start[] => {
  const journal = fleet.journal();
  const ended = new Set(journal.flatMap(({ event, task }) => (event === 'start' ? [] : [task])));
  return journal.filter(({ event, task }) => event === 'start' && !ended.has(task));
};

async function bulk(count: number, input: string, priority: number, workMs: number): Promise<string[]> {
  const items = Array.from({ length: count }, () => ({ agent: 'work', input, priority, context: { workMs: [workMs] } }));
  const answer = await fleet.client.call('POST', '/v1/tasks/bulk', { body: { items } });
  expect(answer.status).toBeLessThan(300);
  return (answer.body.items as { id: string }[]).map(({ id }) => id);
}

interface Why {
  reasons: { gate: string }[];
  gates: { gate: string; facts: Record<string, number> }[];
}

/** What `why` says of a task, and the figures of one of its gates. */
async function why(id: string, gate: string): Promise<{ reason: string | undefined; facts: Record<string, number> | undefined }> {
  const { reasons, gates } = (await fleet.client.call('GET', `/v1/tasks/${id}/why`)).body as Why;
  return { reason: reasons[0]?.gate, facts: gates.find((each) => each.gate === gate)?.facts };
}

/** What the queues, now and the fleet say of one moment. */
async function figures(queue: string): Promise<Record<string, number | undefined>> {
  const paths = ['/v1/queues', '/v1/now', '/v1/fleet'].map((path) => fleet.client.call('GET', path));
  const [queues = {}, now = {}, all = {}] = (await Promise.all(paths)).map(({ body }) => body as Record<string, Record<string, unknown>[]>);
  const own = queues['items']?.find(({ name }) => name === queue) as Record<string, number> | undefined;
  const atSlot = now['waiting']?.find(({ gate }) => gate === 'queue')?.['count'] as number | undefined;
  const atWorkers = all['workers']?.reduce((sum, { running: each }) => sum + Number(each), 0);
  return { active: own?.['active'], forSlot: own?.['forSlot'], running: Number(now['runningTotal']), atSlot, atWorkers };
}

async function say(session: string, workMs = 50): Promise<string> {
  const body = { text: `message of ${session}`, agent: 'work', context: { workMs: [workMs] } };
  const answer = await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body });
  expect(answer.status).toBe(202);
  return answer.body.id as string;
}

async function startedBefore(id: string, before: number): Promise<number> {
  const place = await waitFor(() => starts().findIndex(({ task }) => task === id) + 1, { ...DEADLINE, what: 'its start' });
  return Math.max(0, place - 1 - before);
}

describe('the slots of a worker', () => {
  it('go to a message next, however many attempts of a flood end together', async () => {
    await open({ worker: { peopleShare: 0 } });
    const passed: number[] = [];
    const places: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = starts().length;
      await bulk(4 * SLOTS, `flood ${round}`, 8, 1000);
      await waitFor(() => starts().length >= from + SLOTS, { ...DEADLINE, what: 'the flood to run' });
      const messages: string[] = [];
      for (let message = 0; message < 3; message += 1) {
        const id = await say(`x${round}-${message}`);
        messages.push(id);
        const { reason, facts } = await why(id, 'queue');
        // It may run by now, or a slot has just got it.
        expect(['queue', 'outbox', undefined]).toContain(reason);
        if (reason === 'queue') places.push([facts?.['place'], facts?.['fleetPlace']]);
        await waitFor(() => starts().some(({ task }) => task === id), { ...DEADLINE, what: 'its start' });
      }
      await waitFor(() => running().length === 0 && starts().length === from + 4 * SLOTS + 3, { ...DEADLINE, what: 'the round to end' });
      const flood = starts().filter(({ input }) => input === `flood ${round}`);
      const startedAt = await Promise.all(flood.map(async ({ task }) => Date.parse((await fleet.client.task(task)).startedAt ?? '')));
      for (const id of messages) {
        const message = await fleet.client.task(id);
        const [came, ran] = [Date.parse(message.createdAt), Date.parse(message.startedAt ?? '')];
        passed.push(startedAt.filter((at) => at > came && at < ran).length);
      }
    }
    reportFigure('messages behind a flood', `passed over by ${passed.join(', ')} starts`);
    expect(passed).toEqual(passed.map(() => 0));
    expect(places).toEqual(places.map(() => [1, 1]));
  });

  it('are shared by the ranges of priorities within one queue', async () => {
    await open({ worker: { peopleShare: 0 } });
    const items = [8, 5, 2].flatMap((priority) =>
      Array.from({ length: 60 }, () => ({ agent: 'work', input: `${priority}`, priority, context: { workMs: [700] } })),
    );
    expect((await fleet.client.call('POST', '/v1/tasks/bulk', { body: { items } })).status).toBeLessThan(300);
    const seen: Record<string, number>[] = [];
    const look = (): boolean => {
      const all = starts();
      // Slots that were idle took what came first.
      if (all.length < 2 * SLOTS) return false;
      const now = running();
      if (now.length === SLOTS)
        seen.push(Object.fromEntries([8, 5, 2].map((each) => [each, now.filter(({ input }) => input === `${each}`).length])));
      return all.length >= 100;
    };
    await waitFor(look, { ...DEADLINE, what: 'a hundred starts' });
    expect(seen.length).toBeGreaterThan(0);
    // Shares of 40, 35 and 15: 10, 8 or 9, and 3 or 4 of 22.
    for (const counts of seen) {
      expect(counts['8']).toBeGreaterThanOrEqual(8);
      expect(counts['5']).toBeGreaterThanOrEqual(6);
      expect(counts['2']).toBeGreaterThanOrEqual(2);
    }
  });

  it('come to a low priority by its share, as why says of it behind many of a better one', async () => {
    await open({ worker: { peopleShare: 0 } });
    const flood = await bulk(60, 'flood', 8, 120_000);
    await waitFor(() => starts().length >= SLOTS, { ...DEADLINE, what: 'the flood to run' });
    const low = await fleet.client.submit({ priority: 2, context: { workMs: [50] } });
    const { reason, facts } = await why(low, 'queue');
    expect(reason).toBe('queue');
    // Attempts that may end together leave the first of their slots to what has the larger share.
    expect(facts?.['place']).toBeLessThanOrEqual(4);
    expect((await why(flood.at(-1) ?? '', 'queue')).facts?.['place']).toBeGreaterThan(60 - SLOTS);
    const [first] = running();
    await fleet.client.call('POST', `/v1/tasks/${first?.task}/cancel`);
    await fleet.client.reaches(low, ['completed']);
    expect(starts().map(({ task }) => task)[SLOTS]).toBe(low);
  });

  it('are kept for people behind long batch work', async () => {
    await open();
    const batch = await bulk(60, 'batch', 5, 120_000);
    await waitFor(() => starts().length >= 20, { ...DEADLINE, what: 'the batch to fill the slots' });
    const waits = { reason: 'queue', facts: { workers: 1, slots: 28, free: 8, kept: 6, keptForPeople: 2 } };
    expect(await why(batch.at(-1) ?? '', 'worker')).toEqual(waits);
    const said = { active: 20, forSlot: 40, running: 20, atSlot: 40, atWorkers: 20 };
    // What waits is read once a second.
    await expect.poll(() => figures('tasks'), { timeout: 10_000 }).toEqual(said);
    for (let message = 0; message < 5; message += 1) {
      const before = starts().length;
      const id = await say(`person ${message}`);
      expect(await startedBefore(id, before)).toBe(0);
    }
    const body = { agent: 'work', input: 'awaited', context: { workMs: [50] } };
    const awaited = await fleet.client.call('POST', '/v1/tasks?waitMs=20000', { body });
    expect(awaited).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(running().filter(({ input }) => input === 'batch')).toHaveLength(20);
  });
});
