import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FleetCall } from '../../support/fleet/fleet-client.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let acme: FleetCall;

const CAP = 4;
const KILLS = 6;

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

describe("a tenant's cap", () => {
  it('is never exceeded while workers are killed, and is completely free again afterwards', async () => {
    let [doomed, other]: ServiceProcess[] = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    const submit = (_: unknown, position: number): Promise<string> =>
      fleet.client.submit(
        { ...(position % 5 === 0 ? { session: 's' } : {}), context: { workMs: [250] }, execution: { maxAttempts: 20 } },
        acme,
      );
    const ids = await Promise.all(Array.from({ length: 60 }, submit));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const replacement = await fleet.start('worker');
      await doomed?.kill();
      [doomed, other] = [other, replacement];
      expect((await counts()).granted).toBeLessThanOrEqual(CAP);
      expect(await running()).toBeLessThanOrEqual(CAP);
    }
    const tasks = await fleet.client.ended(ids, 60_000, acme);
    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    // Some were under way in a worker that was killed: a loss costs no attempt, and they ran again.
    expect(tasks.filter(({ result }) => (result?.run ?? 0) > 1).length).toBeGreaterThan(0);
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
