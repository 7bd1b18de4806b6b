import type { Worker } from 'bullmq';
import { LATE, within } from '../time/wait.ts';

/** How long a close that is forced may take: it waits for nothing but its connections. */
const FORCED_CLOSE_MS = 1000;

/** Closes a worker of BullMQ's within about `graceMs`, also while Redis is away, where its own close would wait for ever. */
export async function closeWorker(worker: Pick<Worker, 'close'>, graceMs: number): Promise<void> {
  if ((await within(worker.close(), graceMs)) === LATE) await within(worker.close(true), FORCED_CLOSE_MS);
}
