import { runActions, runErasures } from '#shared/actions/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { systemClock } from '#shared/time/index.ts';

/** One round: other chores of this process wait for its end. */
const ROUND_MS = 1000;

/** Runs steps of actions upon many tasks, and of erasures; what is left is for the next round, or another worker. */
export async function runDueActions(parts: Parts): Promise<void> {
  await runActions(parts, systemClock, ROUND_MS);
  await runErasures(parts, systemClock, ROUND_MS);
}
