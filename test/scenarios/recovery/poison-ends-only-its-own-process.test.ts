import { expect, it } from 'vitest';
import { firstOf } from '../../support/test-environment.ts';
import { contained, tryPoison, usePoisonFleet } from '../../support/fleet/poison-trial.ts';

usePoisonFleet();

it.each(
  firstOf([
    { poison: 'exit', maxEnded: 1, says: /a task ended its process with code 7/ },
    { poison: 'kill', maxEnded: 1, says: /was ended by SIGKILL/ },
  ]),
)('a task that does $poison to its process fails by itself after few losses, and costs its neighbours no attempt', async (trial) => {
  expect(await tryPoison(trial)).toEqual(contained(trial));
});
