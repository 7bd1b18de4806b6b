import { afterEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';

let fleet: Fleet;

afterEach(async () => {
  await fleet.stop();
});

/** As a fleet is installed; other scenarios have shorter times. */
const INSTALLED = { leaseMs: 10_000, orphanCheckIntervalMs: 1000, outboxSweepMs: 3000, ticketAuditMs: 30_000, cancelGraceMs: 5000 };
/** What a start leaves to do is done by then. */
const SETTLE_MS = 12_000;
const COUNTED_MS = 20_000;
const MAX_PER_SECOND = 45;

/** Commands that Redis has run, those of scripts included. */
function commandsIn(stats: string): number {
  return [...stats.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

it('one process of each service, in which nothing happens, sends Redis few commands', async () => {
  fleet = await openFleet({ settings: { worker: INSTALLED } });
  for (const service of ['api', 'chat', 'webhooks', 'scheduler', 'worker'] as const) await fleet.start(service);
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  await wait(SETTLE_MS);
  const before = commandsIn(await redis.info('commandstats'));
  const from = performance.now();
  await wait(COUNTED_MS);
  const perSecond = (1000 * (commandsIn(await redis.info('commandstats')) - before)) / (performance.now() - from);
  redis.disconnect();
  reportFigure('an idle fleet of five services', `${perSecond.toFixed(1)} commands a second`);
  expect(perSecond).toBeLessThan(MAX_PER_SECOND);
});
