import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { firstOf } from '../../support/test-environment.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { skewedClockEnvironment } from '../../support/fleet/skewed-clock.ts';
import { openTestParts } from '../../support/open-test-parts.ts';

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet();
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const FIVE_MINUTES_MS = 300_000;
/** How much later than its time a start may be on a busy machine; a worker that goes by its own clock is minutes off. */
const LATE_MS = 10_000;
/** Of what workers with the clock of Redis ask while the same task waits; a worker that polls for what is not due asks without a pause. */
const MAX_TIMES_RIGHT = 3;
const RETRY_DELAY_MS = 2000;

async function commandsSoFar(): Promise<number> {
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  try {
    const info = await parts.redis.info('stats');
    return Number(/total_commands_processed:(\d+)/.exec(info)?.[1]);
  } finally {
    await parts.close();
  }
}

/** What is asked of Redis within a second. */
async function commandsPerSecond(): Promise<number> {
  const [before, from] = [await commandsSoFar(), performance.now()];
  await wait(1000);
  return ((await commandsSoFar()) - before) / ((performance.now() - from) / 1000);
}

/** Has a task fail that is retried, and looks at what the workers ask of Redis while it waits for that. */
async function waitForRetry(): Promise<{ retried: string; perSecond: number }> {
  const retried = await fleet.client.submit({
    context: { failRuns: 1 },
    execution: { maxAttempts: 2, retryDelayMs: RETRY_DELAY_MS, retryBackoff: 'linear' },
  });
  await fleet.client.reaches(retried, ['failed']);
  return { retried, perSecond: await commandsPerSecond() };
}

const CLOCKS = [
  { clock: 'five minutes ahead beside one that is behind', workers: [FIVE_MINUTES_MS, -FIVE_MINUTES_MS] },
  { clock: 'five minutes ahead', workers: [FIVE_MINUTES_MS] },
  { clock: 'five minutes behind', workers: [-FIVE_MINUTES_MS] },
];

describe.each(firstOf(CLOCKS))('a worker whose clock is $clock', ({ workers }) => {
  it('starts what is due and what is retried on time, and leaves Redis in peace meanwhile', async () => {
    for (const _ of workers) await fleet.start('worker');
    const right = await waitForRetry();
    await fleet.client.ended([right.retried], 20_000);
    await fleet.clear();
    for (const ms of workers) await fleet.start('worker', skewedClockEnvironment(ms));
    const dueAt = Date.now() + 3000;
    const scheduled = await fleet.client.submit({ scheduledFor: new Date(dueAt).toISOString() });
    const { retried, perSecond } = await waitForRetry();
    reportFigure(
      `workers ${workers.map((ms) => ms / 1000).join(' s and ')} s apart from Redis`,
      `${Math.round(perSecond)} commands a second, ${Math.round(right.perSecond)} with its clock`,
    );

    const tasks = await fleet.client.ended([scheduled, retried], 20_000);
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const [first, second] = await fleet.client.attempts(retried);
    const lateBy = {
      scheduled: Date.parse(tasks[0]?.startedAt ?? '') - dueAt,
      retried: Date.parse(second?.startedAt ?? '') - Date.parse(first?.endedAt ?? '') - RETRY_DELAY_MS,
    };
    for (const ms of Object.values(lateBy)) {
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThan(LATE_MS);
    }
    expect(perSecond).toBeLessThan(MAX_TIMES_RIGHT * right.perSecond);
  });
});
