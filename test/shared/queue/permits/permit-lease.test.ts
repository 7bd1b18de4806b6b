import { beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { UNKNOWN_RANK } from '#shared/queue/permits/next-ticket.ts';
import { PermitLease } from '#shared/queue/permits/permit-lease.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { configuredFleetLimits } from '#shared/tenants/fleet-limits/fleet-limits-directory.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';

const LEASE_MS = 10_000;
const keys = createKeys(1);
const settings = settingsSchema.parse({ limits: { maxConcurrent: 10 }, worker: { leaseMs: LEASE_MS } });
const redis = await useRedisClient(await useRedis());
let now = 0;

beforeEach(async () => {
  await redis.flushall();
  now = 0;
});

/** A lease of two permits. */
async function leaseTwo(keepMs = 0): Promise<PermitLease> {
  const lease = new PermitLease({
    fleet: { redis, keys, settings, fleetLimits: () => configuredFleetLimits(settings) },
    kind: 'ordinary',
    worker: 'w1',
    queues: ['tasks'],
    slots: 2,
    keepMs,
    clock: { ...systemClock, monotonic: () => now },
    log: createLog({ level: 'silent', service: 'test' }),
  });
  await lease.ask(2, UNKNOWN_RANK);
  expect(lease.spare).toBe(2);
  return lease;
}

/** Permits of attempts that outlive the worker. */
async function inUse(): Promise<string | null> {
  return await redis.hget(keys.fleet.permits, 'ordinary w1/attempts');
}

describe('permits that a worker has leased', () => {
  it('stand for as long as the fleet keeps them, from before the call on', async () => {
    const lease = await leaseTwo();
    const permit = lease.take();
    now = LEASE_MS - 1;
    expect([lease.spare, lease.mayKeep(permit)]).toEqual([1, true]);
    now = LEASE_MS;
    expect([lease.spare, lease.mayKeep(permit)]).toEqual([0, false]);
  });

  it('are void once the lease is lost, and make no room when their tickets end', async () => {
    const lease = await leaseTwo();
    const lost = [lease.take(), lease.take()];
    // What another worker's call does once the lease has ended.
    await redis.del(keys.fleet.permits, keys.fleet.permitHolders);
    lease.planRenewal();
    expect(await lease.report(0)).toBe(true);
    for (const permit of lost) lease.release(permit);
    await lease.ask(1, UNKNOWN_RANK);
    const spare = Number(await redis.hget(keys.fleet.permits, 'ordinary w1'));
    expect(lease.spare).toBe(spare);
    const permit = lease.take();
    expect([lease.spare, lease.mayKeep(permit), ...lost.map((each) => lease.mayKeep(each))]).toEqual([spare - 1, true, false, false]);
  });

  it('are said to be in use at once where attempts outlive the worker', async () => {
    const lease = await leaseTwo(60_000);
    expect([lease.isReportDue, await inUse()]).toEqual([false, null]);
    const permit = lease.take();
    expect(lease.isReportDue).toBe(true);
    expect(await lease.report(0)).toBe(false);
    expect([lease.isReportDue, await inUse()]).toEqual([false, '1']);
    lease.take();
    await lease.report(0);
    expect(await inUse()).toBe('2');
    // Another attempt in the place of an ended one changes nothing, and fewer can wait for the renewal.
    lease.release(permit);
    lease.take();
    expect(lease.isReportDue).toBe(false);
  });

  it('are not said to be in use where attempts end with the worker', async () => {
    const lease = await leaseTwo();
    lease.take();
    expect(lease.isReportDue).toBe(false);
  });
});
