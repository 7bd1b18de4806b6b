import { type Arbitrary, assert, asyncProperty } from 'fast-check';

/** However loaded the machine is. */
const MIN_RUNS = 3;
const MAX_RUNS = 100000;

/** Plays scenarios for a while. When one fails, smaller ones are tried without a limit of time. */
export async function playScenarios<Scenario>(
  scenario: Arbitrary<Scenario>,
  play: (scenario: Scenario) => Promise<void>,
  { seed, budgetMs }: { seed: number; budgetMs: number },
): Promise<void> {
  const endsAt = performance.now() + budgetMs;
  let runs = 0;
  let hasFailed = false;
  const property = asyncProperty(scenario, async (each) => {
    if (!hasFailed && runs >= MIN_RUNS && performance.now() > endsAt) return;
    runs += 1;
    try {
      await play(each);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  await assert(property, { seed, numRuns: MAX_RUNS });
}
