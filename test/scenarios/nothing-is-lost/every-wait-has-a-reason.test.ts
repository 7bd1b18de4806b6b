import { timeText } from '#shared/time/clock.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let acme: FleetCall;

interface Why {
  status: string;
  reasons: { gate: string; detail: string; since: string | null; until: string | null; taskId: string | null }[];
  estimatedStartMs: number | null;
}

const LIMITS = { running: 1, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
const LONG = { workMs: [120_000] };
const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();

beforeAll(async () => {
  fleet = await openFleet({ settings: { limits: { tenants: { acme: LIMITS } } }, env: { MUSTER_MAX_CONCURRENT: '2' } });
  await fleet.start('api');
  // Nobody serves `critical`.
  await fleet.start('worker', { MUSTER_QUEUES: 'tasks=10,background=5,maintenance=1' });
  await fleet.client.make('/v1/tenants', { id: 'acme' });
  acme = { key: (await fleet.client.make('/v1/tenants/acme/keys', { name: 'of the test', scopes: ['submit'] })).secret };
});
afterAll(async () => {
  await fleet.stop();
});

async function why(id: string, options: FleetCall = {}): Promise<Why> {
  const { status, body } = await fleet.client.call('GET', `/v1/tasks/${id}/why`, options);
  expect(status).toBe(200);
  return body as Why;
}

/** The reason of this gate; waits for it, because a task is on its way to where it waits. */
async function reason(id: string, gate: string, options: FleetCall = {}): Promise<Why['reasons'][number]> {
  const find = async (): Promise<Why['reasons'][number] | undefined> => (await why(id, options)).reasons.find((each) => each.gate === gate);
  const found = await waitFor(find, { deadlineMs: 20_000, what: `the reason ${gate}` });
  expect(Date.parse(found.since ?? '')).toBeLessThanOrEqual(Date.now());
  return found;
}

async function end(...ids: string[]): Promise<void> {
  for (const id of ids) await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
  await fleet.client.ended(ids, 10_000);
}

describe('a task that waits says why', () => {
  it('when another one of its session is before it', async () => {
    const holder = await fleet.client.submit({ session: 'talk', context: LONG });
    const next = await fleet.client.submit({ session: 'talk' });
    const last = await fleet.client.submit({ session: 'talk' });
    expect(await reason(next, 'lane')).toMatchObject({ taskId: holder, detail: `behind task ${holder} in session "talk", 1 before it` });
    expect(await reason(last, 'lane')).toMatchObject({ taskId: next, detail: `behind task ${next} in session "talk", 2 before it` });
    expect((await why(next)).estimatedStartMs).toBeNull();
    await end(last, next, holder);
  });

  it("when its tenant's cap is full", async () => {
    const running = await fleet.client.submit({ context: LONG }, acme);
    await fleet.client.reaches(running, ['running'], acme);
    const waits = await fleet.client.submit({}, acme);
    expect(await reason(waits, 'cap', acme)).toMatchObject({ detail: 'tenant cap 1/1' });
    await fleet.client.call('POST', `/v1/tasks/${running}/cancel`, acme);
    await fleet.client.ended([running, waits], 10_000, acme);
    expect((await why(waits, acme)).reasons).toEqual([]);
  });

  it("when its tenant's cap was full, and waits no more once the cap is raised, although nothing ends", async () => {
    const running = await fleet.client.submit({ context: LONG }, acme);
    await fleet.client.reaches(running, ['running'], acme);
    const waits = await fleet.client.submit({}, acme);
    expect(await reason(waits, 'cap', acme)).toMatchObject({ detail: 'tenant cap 1/1' });
    const { status } = await fleet.client.call('PATCH', '/v1/tenants/acme', { body: { limits: { ...LIMITS, running: 2 } } });
    expect(status).toBe(200);
    await fleet.client.reaches(waits, ['completed'], acme);
    await fleet.client.call('PATCH', '/v1/tenants/acme', { body: { limits: null } });
    await fleet.client.call('POST', `/v1/tasks/${running}/cancel`, acme);
    await fleet.client.ended([running], 10_000, acme);
  });

  it('when it is not due, and until when', async () => {
    const id = await fleet.client.submit({ scheduledFor: IN_AN_HOUR });
    expect(await reason(id, 'time')).toMatchObject({ until: IN_AN_HOUR, detail: `not before ${timeText(Date.parse(IN_AN_HOUR))}` });
    expect((await why(id)).estimatedStartMs).toBeGreaterThan(3_000_000);
    await end(id);
  });

  it('when it waits for its next attempt, and after which failure', async () => {
    const id = await fleet.client.submit({ context: { failRuns: 1 }, execution: { retryDelayMs: 3_000_000 } });
    const { detail, until } = await reason(id, 'retry');
    expect(detail).toContain('retry after failure NETWORK_ERROR');
    expect(Date.parse(until ?? '')).toBeGreaterThan(Date.now());
    await end(id);
  });

  it('when as many run in the fleet as may', async () => {
    const running = [await fleet.client.submit({ context: LONG }), await fleet.client.submit({ context: LONG })];
    for (const id of running) await fleet.client.reaches(id, ['running']);
    const waits = await fleet.client.submit();
    expect(await reason(waits, 'fleet')).toMatchObject({ detail: 'fleet cap 2/2' });
    await end(...running);
    await fleet.client.ended([waits], 10_000);
  });

  it('when its queue is paused', async () => {
    expect((await fleet.client.call('POST', '/v1/queues/background/pause')).status).toBe(200);
    const id = await fleet.client.submit({ priority: 'low' });
    expect(await reason(id, 'paused')).toMatchObject({ detail: 'queue "background" is paused' });
    expect((await why(id)).estimatedStartMs).toBeNull();
    expect((await fleet.client.call('POST', '/v1/queues/background/resume')).status).toBe(200);
    expect(await fleet.client.ended([id], 10_000)).toMatchObject([{ status: 'completed' }]);
  });

  it('when no worker serves its queue', async () => {
    const id = await fleet.client.submit({ priority: 'critical' });
    expect(await reason(id, 'worker')).toMatchObject({ detail: 'no worker serves the queue "critical"' });
    expect((await why(id)).estimatedStartMs).toBeNull();
    await fleet.start('worker', { MUSTER_QUEUES: 'critical=1' });
    expect(await fleet.client.ended([id], 10_000)).toMatchObject([{ status: 'completed' }]);
  });

  it('and gives no reason once it runs', async () => {
    const id = await fleet.client.submit({ context: LONG });
    await fleet.client.reaches(id, ['running']);
    expect(await why(id)).toEqual({ status: 'running', reasons: [], gates: [], estimatedStartMs: null, interruptions: 0 });
    await end(id);
    expect((await why(id)).reasons).toEqual([]);
  });
});
