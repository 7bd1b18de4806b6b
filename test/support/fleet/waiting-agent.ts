import type { AgentFunction } from '#shared/config/define-config.ts';
import { wait } from '#shared/time/wait.ts';

/** Holds its slot for the `workMs` of its task's context and does nothing, so that what is measured is the fleet's. */
export const run: AgentFunction = async ({ context }, { signal }) => {
  await wait((context as { workMs?: number }).workMs ?? 0);
  signal.throwIfAborted();
  return 'waited';
};
