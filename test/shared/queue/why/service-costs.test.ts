import { expect, it } from 'vitest';
import { createHistogram, observe } from '#shared/metrics/histogram.ts';
import { ServiceCosts } from '#shared/queue/why/service-costs.ts';

type Facts = ConstructorParameters<typeof ServiceCosts>[0];
const OF_QUEUE = { queue: 'tasks', priority: 5 } as const;
const RAN_MS = 60_000;

/** What others of the queue took, and an attempt of `slow` that has run for a minute. */
function factsOf(usualMs: number | null): Facts {
  const histogram = createHistogram();
  if (usualMs !== null) observe(histogram, usualMs);
  const state = { ...OF_QUEUE, agent: 'slow', startedAt: Date.now() - RAN_MS };
  return {
    times: new Map([['known/normal', 7]]),
    fleetTimes: usualMs === null ? [] : [{ family: 'ran', labels: ['tasks', 'normal', 'api'], histogram }],
    running: [{ tenant: 'acme', state }],
    skewMs: 0,
  } as unknown as Facts;
}

const costOf = (agent: string, usualMs: number | null, tenant = 'acme'): number | null =>
  new ServiceCosts(factsOf(usualMs), tenant).ofTask({ state: { ...OF_QUEUE, agent } } as never);

it('a task takes as long as those of its agent did, else as others of its queue', () => {
  expect(costOf('known', 100)).toBe(7);
  expect(costOf('new', 100)).toBe(100);
  expect(costOf('new', null)).toBeNull();
});

it('a task of an agent that runs for the first time takes no shorter than its running one by now, and half as long again', () => {
  expect(costOf('slow', 100)).toBeGreaterThanOrEqual(1.5 * RAN_MS);
  expect(costOf('slow', 100, 'other')).toBe(100);
  expect(costOf('slow', null)).toBeNull();
});
