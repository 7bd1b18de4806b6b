import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { heartbeatIntervalMs: 500, deadHeartbeatThreshold: 2 } } });
});
afterEach(async () => {
  await fleet.stop();
});

it("operators are notified of an idle worker that was killed, also when it was the fleet's only one", async () => {
  await fleet.start('api');
  const worker = await fleet.start('worker');
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  const lost = async (): Promise<number> => {
    const entries = await parts.redis.xrange(parts.keys.tenant('default').events, '-', '+');
    return entries.filter(([, fields]) => fields.includes('fleet.worker.lost')).length;
  };
  try {
    await waitFor(async () => (await parts.redis.exists(parts.keys.fleet.workers)) === 1, {
      deadlineMs: 20_000,
      what: 'the first heartbeat',
    });
    await worker.kill();
    await waitFor(async () => (await lost()) > 0, { deadlineMs: 20_000, what: 'word of the loss' });
    expect(await lost()).toBe(1);
  } finally {
    await parts.close();
  }
});
