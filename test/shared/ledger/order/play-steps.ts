import { type Arbitrary, assert, asyncProperty } from 'fast-check';

const RUNS_OF_A_SEED = 10;

/**
 * Plays scenarios, ten of each seed from this one on, until they had so many steps in all. When one fails, smaller ones are tried without a
 * limit. Returns how many steps were played.
 */
export async function playSteps<Step>(
  scenario: Arbitrary<Step[]>,
  play: (steps: readonly Step[]) => Promise<void>,
  { seed, steps }: { seed: number; steps: number },
): Promise<number> {
  let played = 0;
  const property = asyncProperty(scenario, async (each) => {
    await play(each);
    played += each.length;
  });
  for (let next = seed; ; next += 1) {
    await assert(property, { seed: next, numRuns: RUNS_OF_A_SEED });
    if (played >= steps) return played;
  }
}
