import { expect, it } from 'vitest';
import { firstOf } from '../../support/test-environment.ts';
import { contained, tryPoison, usePoisonFleet } from '../../support/fleet/poison-trial.ts';

usePoisonFleet();

it.each(
  firstOf([
    { poison: 'block', maxEnded: 0, says: /a task blocked its event loop for \d+ s/ },
    // A process that is short of memory stands still before it ends, on a busy machine for longer than its lease.
    { poison: 'memory', maxEnded: 1, says: /^Its process (ended|was ended)|blocked (for|its event loop for) \d+ s/ },
  ]),
)('a task that does $poison to its process fails by itself after few losses, and costs its neighbours no attempt', async (trial) => {
  expect(await tryPoison(trial)).toEqual(contained(trial));
});
