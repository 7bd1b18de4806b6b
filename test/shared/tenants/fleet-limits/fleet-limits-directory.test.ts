import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { FleetLimitsDirectory, patchFleetLimits } from '#shared/tenants/fleet-limits/fleet-limits-directory.ts';
import { createLog } from '#shared/log/create-log.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

const keys = createKeys(3);
const redis = await useRedisClient(await useRedis());
const settings = settingsSchema.parse({ limits: { maxConcurrent: 100, fleet: { runningByClass: { proactive: 5, user: 50 } } } });
const log = createLog({ level: 'silent', service: 'test' });
const opened: FleetLimitsDirectory[] = [];

/** The limits as another process knows them. */
function open(): FleetLimitsDirectory {
  const directory = new FleetLimitsDirectory({ redis, keys, settings, log });
  opened.push(directory);
  return directory;
}

beforeEach(async () => {
  await redis.flushall();
});
afterEach(() => {
  for (const directory of opened.splice(0)) directory.stop();
});

describe("the fleet's limits", () => {
  it("are the configuration's until they are changed, and again after a reset", async () => {
    const limits = open();
    await limits.start();
    expect(limits.current()).toEqual({ maxConcurrent: 100, runningByClass: { proactive: 5, user: 50 }, runningLow: null, rates: {} });
    await limits.change({ maxConcurrent: 7, runningByClass: { user: null } }, 'a-key');
    expect(limits.current()).toMatchObject({ maxConcurrent: 7, runningByClass: { proactive: 5 } });
    expect(limits.stored).toMatchObject({ by: 'a-key', changedAt: expect.any(Number) });
    await limits.reset();
    expect([limits.stored, limits.current().maxConcurrent]).toEqual([null, 100]);
    await limits.reset();
  });

  it('are followed by every other process, also one that starts later', async () => {
    const [here, there] = [open(), open()];
    await there.start();
    await here.change({ runningLow: 3 }, null);
    await waitFor(() => there.current().runningLow === 3, { deadlineMs: 5000, what: 'the other process to follow' });
    const late = open();
    await late.start();
    expect(late.current().runningLow).toBe(3);
  });

  it('keep every change when many make one at the same time', async () => {
    const classes = ['user', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
    await Promise.all(classes.map((name, at) => open().change({ runningByClass: { [name]: at + 1 } }, null)));
    const after = open();
    await after.refresh();
    expect(after.current().runningByClass).toEqual({ user: 1, proactive: 2, webhook: 3, schedule: 4, delegation: 5 });
  });

  it('stay as they were known while the record cannot be read', async () => {
    const limits = open();
    await limits.change({ maxConcurrent: 7 }, null);
    await redis.set(keys.fleet.limits, '{"limits":{"of":"a newer release"}}');
    await limits.refresh();
    expect(limits.current().maxConcurrent).toBe(7);
    await limits.change({ runningLow: 1 }, null);
    expect(limits.current()).toMatchObject({ maxConcurrent: 7, runningLow: 1 });
  });
});

it('a change leaves what it does not name, and null takes a figure away', () => {
  const before = { maxConcurrent: 9, runningByClass: { user: 3 }, runningLow: 2, rates: { all: { perMinute: 1, perHour: 2 } } };
  expect(patchFleetLimits(before, {})).toEqual(before);
  expect(patchFleetLimits(before, { runningLow: null, rates: { all: null, user: { perMinute: 3, perHour: 4 } } })).toEqual({
    maxConcurrent: 9,
    runningByClass: { user: 3 },
    runningLow: null,
    rates: { user: { perMinute: 3, perHour: 4 } },
  });
});
