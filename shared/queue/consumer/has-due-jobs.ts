import type { TicketQueue } from '../queues.ts';

/** Whether a queue has jobs that somebody should take now. Rejects while Redis is away. */
export async function hasDueJobs(queue: TicketQueue): Promise<boolean> {
  if (await queue.isPaused()) return false;
  const { waiting = 0, prioritized = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'prioritized', 'delayed');
  if (waiting + prioritized > 0) return true;
  if (delayed === 0) return false;
  const [next] = await queue.getJobs(['delayed'], 0, 0, true);
  return next !== undefined && next.timestamp + next.delay <= Date.now();
}
