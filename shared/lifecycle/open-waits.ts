import type { WaitHandlers } from '../waits/index.ts';

/** What is done when a run begins to wait, by the kind of its wait. */
export function openWaits(): WaitHandlers {
  return {};
}
