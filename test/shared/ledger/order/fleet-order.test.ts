import { array } from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { testEnvironment } from '../../../support/test-environment.ts';
import { useLedger } from '../support/use-ledger.ts';
import { FleetPlay } from './fleet-play.ts';
import { playSteps } from './play-steps.ts';
import { type Step, step, TENANTS } from './steps.ts';

const SEED = testEnvironment.seed ?? Date.now() % 2_147_483_647;
/** Of all scenarios together. */
const SIZE = testEnvironment.isChaos ? { steps: 100_000, longest: 200 } : { steps: 2500, longest: 60 };
const MAX_MS = 1_800_000;
const CAP = { max: 16, reserved: 3 };

/** Lanes are not kept by themselves: a step says when. */
const test = await useLedger({ lanes: { reserveAfterMs: 3_600_000 }, limits: { maxConcurrent: CAP.max, criticalShare: 0.2 } });

async function play(steps: readonly Step[]): Promise<void> {
  await test.reset();
  test.costs.set('slow', 9000);
  const fleet = new FleetPlay(test, CAP);
  const doNext = async (each: Step): Promise<void> => {
    await fleet.do(each);
    expect(await fleet.problems(), `after ${JSON.stringify(each)}`).toEqual([]);
  };
  for (const each of steps) await doNext(each);
}

describe('the order of work', () => {
  beforeAll(async () => await new FleetPlay(test, CAP).warm());

  it(
    `is that of the plain fleet in memory, after any steps (seed ${SEED}, ${SIZE.steps} steps of ${TENANTS.length} tenants)`,
    async () => {
      const scenario = array(step, { minLength: 5, maxLength: SIZE.longest, size: 'max' });
      expect(await playSteps(scenario, play, { seed: SEED, steps: SIZE.steps })).toBeGreaterThanOrEqual(SIZE.steps);
    },
    MAX_MS,
  );
});
