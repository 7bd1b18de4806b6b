import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { TaskRequest } from '#shared/tasks/task-request.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let acme: FleetCall;

const CAP = 4;
const KILLS = 4;

beforeEach(async () => {
  const limits = { running: CAP, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
  fleet = await openFleet({ settings: { limits: { tenants: { acme: limits } }, worker: { leaseMs: 1000 } } });
  await fleet.start('api');
  await fleet.client.make('/v1/tenants', { id: 'acme' });
  acme = { key: (await fleet.client.make('/v1/tenants/acme/keys', { name: 'of the test', scopes: ['submit'] })).secret };
});
afterEach(async () => {
  await fleet.stop();
});

/** What counts against caps: grants of the tenant and running attempts of the fleet. */
async function counts(): Promise<{ granted: number; leases: number; lanes: number }> {
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  const { redis, keys } = parts;
  try {
    const tenant = keys.tenant('acme');
    const granted = await redis.zlexcount(tenant.live, '[granted=', '(granted=\u00ff');
    return { granted, leases: await redis.zcard(keys.shard(0).leases), lanes: await redis.zcard(tenant.laneHeld('session:s')) };
  } finally {
    await parts.close();
  }
}

const running = async (): Promise<number> =>
  (await fleet.client.call('GET', '/v1/tasks?status=running&limit=200', acme)).body.items.length as number;

const submit = (request: Partial<TaskRequest>): Promise<string> =>
  fleet.client.submit({ context: { workMs: [250] }, execution: { maxAttempts: 20 }, ...request }, acme);

/** The process that runs the task. */
const pidOf = (id: string): Promise<number> =>
  waitFor(() => fleet.journal().find(({ event, task }) => event === 'start' && task === id)?.pid, {
    deadlineMs: 20_000,
    what: `task ${id} to start`,
  });

describe("a tenant's cap", () => {
  it('is never exceeded while workers are killed, and is completely free again afterwards', async () => {
    const workers: ServiceProcess[] = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Its first run ends with its worker.
      const endless = await submit({ context: { workMs: [120_000, 250] } });
      ids.push(endless, ...(await Promise.all(Array.from({ length: 9 }, (_, n) => submit(n % 5 === 0 ? { session: 's' } : {})))));
      const [replacement, pid] = await Promise.all([fleet.start('worker'), pidOf(endless)]);
      workers.push(replacement);
      await workers.find((worker) => worker.pid === pid)?.kill();
      expect((await counts()).granted).toBeLessThanOrEqual(CAP);
      expect(await running()).toBeLessThanOrEqual(CAP);
    }
    const tasks = await fleet.client.ended(ids, 60_000, acme);
    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    // Each kill hit a running task: a loss costs no attempt, and it ran again.
    expect(tasks.filter(({ result }) => (result?.run ?? 0) > 1).length).toBeGreaterThanOrEqual(KILLS);
    expect(await counts()).toEqual({ granted: 0, leases: 0, lanes: 0 });

    const full = await Promise.all(Array.from({ length: CAP + 1 }, () => fleet.client.submit({ context: { workMs: [120_000] } }, acme)));
    await waitFor(async () => (await running()) === CAP, { deadlineMs: 20_000, what: `${CAP} running tasks again` });
    const [left] = (await fleet.client.call('GET', '/v1/tasks?status=pending', acme)).body.items as { id: string }[];
    const why = await fleet.client.call('GET', `/v1/tasks/${left?.id}/why`, acme);
    expect(why.body.reasons).toMatchObject([{ gate: 'cap', detail: `tenant cap ${CAP}/${CAP}` }]);
    for (const id of full.toReversed()) await fleet.client.call('POST', `/v1/tasks/${id}/cancel`, acme);
    await fleet.client.ended(full, 20_000, acme);
    expect(await counts()).toEqual({ granted: 0, leases: 0, lanes: 0 });
  });
});
