import type { NewTask } from '../../ledger/index.ts';
import { takeFleetRate } from './fleet-rates.ts';
import { joinTree } from './join-tree.ts';
import { assertMemory, assertNotShed } from './pressure.ts';
import type { Intake } from './request.ts';

/**
 * Asks all that a task has to pass before it goes to the ledger: Redis's memory, pressure, the bounds of its tree, the fleet's rates. Returns how to take back
 * what counted it, for a task that is not accepted after all. Errors: `limit.pressure`, `limit.rate`, `task.runaway`, `unavailable.memory`.
 */
export async function admitTask(intake: Intake, task: NewTask): Promise<() => Promise<void>> {
  await assertMemory(intake, task);
  await assertNotShed(intake, task);
  const leaveTree = await joinTree(intake, task);
  try {
    const giveBack = await takeFleetRate(intake.ledger, task);
    return async () => {
      giveBack();
      await leaveTree();
    };
  } catch (error) {
    await leaveTree();
    throw error;
  }
}
