import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { EVENTS, type EventsWanted } from '../../support/agents/event-agent.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const RUNS = testEnvironment.isChaos ? 10_000 : 200;
const SESSIONS = RUNS / 20;
const BULK = 200;
const RACES = testEnvironment.isChaos ? 200 : 30;
const FILE = fileURLToPath(import.meta.resolve('../../support/agents/event-agent.ts'));
const SLOTS = { MUSTER_QUEUES: 'tasks=4,maintenance=1' };
const NO_LIMITS = { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {}, storedBytes: null };

const LIVE = createKeys(1).tenant('default').live;

let fleet: Fleet;
let redis: ReturnType<typeof connectRedis>;
beforeAll(async () => {
  fleet = await openFleet({
    settings: {
      agents: { waiting: { kind: 'function', file: FILE, holdLane: '100ms' } },
      limits: { tenant: NO_LIMITS, suspended: RUNS + 1 },
    },
  });
  await fleet.start('api');
  redis = connectRedis({ url: fleet.redis.url, name: 'events', log: createLog({ level: 'silent', service: 'test' }) });
});
afterEach(async () => {
  await fleet.clear();
  rmSync(`${fleet.directory}/${EVENTS}`, { force: true });
});
afterAll(async () => {
  redis.disconnect();
  await fleet.stop();
});

const submit = async (context: EventsWanted): Promise<string> => await fleet.client.submit({ agent: 'waiting', context: { ...context } });
/** Runs that wait for one event, those of a session in their order. */
const submitBulk = async (from: number): Promise<string[]> => {
  const items = Array.from({ length: BULK }, (_, place) => {
    const n = from + place;
    return { agent: 'waiting', input: 'to wait', context: { name: 'go', n }, session: `s-${n % SESSIONS}`, mode: 'queue' };
  });
  const { body } = await fleet.client.call('POST', '/v1/tasks/bulk', { body: { items } });
  return (body['items'] as { id: string }[]).map(({ id }) => id);
};
const suspend = async (context: EventsWanted): Promise<string> => {
  const id = await submit(context);
  await fleet.client.reaches(id, ['suspended']);
  return id;
};
const send = async (body: object): Promise<number> => {
  const { status, body: answer } = await fleet.client.call('POST', '/v1/events', { body });
  expect({ status, answer }).toMatchObject({ status: 200 });
  return answer['resumed'] as number;
};
const eventsOf = async (ids: readonly string[], deadlineMs = 60_000): Promise<unknown[]> =>
  (await fleet.client.ended(ids, deadlineMs)).map(({ status, result }) => {
    expect(status).toBe('completed');
    return (result as unknown as { events: unknown[] }).events;
  });
/** Counted in Redis: the API counts so many as a lower bound. */
const suspended = async (): Promise<number> => await redis.zlexcount(LIVE, '[suspended/', '(suspended/\u00ff');

describe('a run that waits for an event', () => {
  it('gets one that came before, one that comes meanwhile, and null after its timeout; others leave it alone', async () => {
    await fleet.start('worker');
    expect(await send({ name: 'early', data: { n: 1 }, id: 'e1' })).toBe(0);
    const before = await submit({ name: 'early', match: { n: 1 } });
    const during = await suspend({ name: 'paid', match: { order: { id: 7 }, kind: 'full' } });
    const other = await suspend({ name: 'paid', match: { order: { id: 8 } }, timeoutMs: 4000 });
    const why = (await fleet.client.call('GET', `/v1/tasks/${during}/why`)).body;
    expect(why).toMatchObject({ status: 'suspended', reasons: [{ gate: 'event', detail: expect.stringContaining('"paid"') as string }] });
    expect(await send({ name: 'paid', data: { order: { id: 9 }, kind: 'full' } })).toBe(0);
    const data = { kind: 'full', order: { id: 7 }, more: true };
    expect(await send({ name: 'paid', data, id: 'e2' })).toBe(1);
    expect(await send({ name: 'paid', data, id: 'e2' })).toBe(1);
    expect(await eventsOf([before, during, other])).toEqual([
      [{ name: 'early', data: { n: 1 }, id: 'e1' }],
      [{ name: 'paid', data, id: 'e2' }],
      [null],
    ]);
  });

  it('gets each event once, in the order in which they came', async () => {
    await fleet.start('worker');
    for (const id of ['a', 'b']) await send({ name: 'tick', id });
    const run = await submit({ name: 'tick', times: 4, timeoutMs: 100_000 });
    await waitFor(async () => (await fleet.client.attempts(run)).length === 3, { deadlineMs: 60_000, what: 'it to have two events' });
    for (const id of ['c', 'd']) await send({ name: 'tick', id });
    expect(await eventsOf([run])).toMatchObject([[{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }]]);
  });

  it('is one of many for an event that goes to one', async () => {
    await fleet.start('worker');
    const ids = await Promise.all(Array.from({ length: 20 }, () => suspend({ name: 'job' })));
    const events = Array.from({ length: 20 }, (_, at) => ({ name: 'job', id: `job-${at}`, deliver: 'one' }));
    // Each is sent twice at once.
    const resumed = await Promise.all([...events, ...events].map((event) => send(event)));
    expect(resumed).toEqual(resumed.map(() => 1));
    const got = (await eventsOf(ids)).map((all) => (all as { id: string }[]).map(({ id }) => id));
    expect(got.flat().toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(await send({ name: 'job', id: 'kept', deliver: 'one' })).toBe(0);
    const [one, other] = await eventsOf([await submit({ name: 'job' }), await submit({ name: 'job', timeoutMs: 3000 })]);
    expect([one, other].filter((all) => (all as unknown[])[0] !== null)).toMatchObject([[{ id: 'kept' }]]);
  });

  it('misses none, whenever its worker is killed', async () => {
    let worker = await fleet.start('worker', SLOTS);
    const runs: string[] = [];
    const sent: Promise<number>[] = [];
    for (let n = 0; n < RACES; n += 1) {
      runs.push(await submit({ name: 'race', match: { n } }));
      sent.push(send({ name: 'race', data: { n }, id: `race-${n}` }));
      if (n % 10 !== 9) continue;
      await worker.kill();
      worker = await fleet.start('worker', SLOTS);
    }
    await Promise.all(sent);
    expect(await eventsOf(runs)).toMatchObject(runs.map((_, n) => [{ id: `race-${n}` }]));
  });
});

describe('thousands of suspended runs on four slots', () => {
  it('go on by one event, in the order of their lanes, though Redis restarted and its sender was killed', async () => {
    const worker = await fleet.start('worker', SLOTS);
    const sender = await fleet.start('api');
    const ids: string[] = [];
    for (let at = 0; at < RUNS; at += BULK) ids.push(...(await submitBulk(at)));
    await waitFor(async () => (await suspended()) === RUNS, { deadlineMs: 600_000, everyMs: 500, what: 'all runs to be suspended' });
    // All slots are free.
    await fleet.client.ended([await fleet.client.submit({})], 20_000);
    await worker.kill();
    await fleet.redis.kill('SIGKILL');
    await fleet.redis.restart();
    await fleet.start('worker', SLOTS);
    const event = { name: 'go', data: { at: 1 }, id: 'go' };
    const cut = send(event).catch(() => null);
    await waitFor(async () => (await suspended()) < RUNS, { deadlineMs: 60_000, everyMs: 5, what: 'the first to go on' });
    await sender.kill();
    await cut;
    await fleet.start('api');
    const got = await eventsOf(ids, 600_000);
    expect(got).toEqual(ids.map(() => [event].map(({ name, data, id }) => ({ name, data, id }))));
    await waitFor(async () => (await send(event)) === RUNS, { deadlineMs: 60_000, what: 'the event to be sent to its end' });
    const effects = readFileSync(`${fleet.directory}/${EVENTS}`, 'utf8').trim().split('\n').map(Number);
    expect(effects.toSorted((a, b) => a - b)).toEqual(ids.map((_, n) => n));
    for (const [lane, line] of Map.groupBy(effects, (n) => n % SESSIONS))
      expect(line, `session ${lane}`).toEqual(line.toSorted((a, b) => a - b));
  });
});
