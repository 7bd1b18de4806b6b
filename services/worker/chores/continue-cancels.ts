import { type OpenCancel, takeOpenCancel } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { continueCancel } from '#shared/queue/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { eachShard } from './each-shard.ts';

type CancelPorts = Pick<Parts, 'ledger' | 'log'>;

/** Cancels of one shard that one round continues. */
const MAX_PER_ROUND = 1000;

/**
 * Continues cancels older than `worker.cancelSweepMs` that reached only some of the sub-tasks before their process died or lost Redis. Two
 * workers that continue the same one cancel each task once.
 */
export async function continueCancels(ports: CancelPorts, signal: AbortSignal): Promise<void> {
  const { ledger } = ports;
  await eachShard(ledger.keys, async (shard) => {
    for (let taken = 0; taken < MAX_PER_ROUND && !signal.aborted; taken += 1) {
      const now = await redisNow(ledger.redis);
      const cancel = await takeOpenCancel(ledger, shard, { before: now - ledger.settings.worker.cancelSweepMs, now });
      if (cancel === null) return;
      await continueSafely(ports, cancel, signal);
    }
  });
}

/** One bad task must not keep others from being cancelled. */
async function continueSafely({ ledger, log }: CancelPorts, cancel: OpenCancel, signal: AbortSignal): Promise<void> {
  const { tenant, id: task } = cancel;
  try {
    const subTasks = await continueCancel(ledger, cancel, () => !signal.aborted);
    if (subTasks === 0) return;
    log.warn({ event: 'task.cancel-continued', task, tenant, subTasks }, 'cancelled the remaining sub-tasks of a cancelled task');
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    log.error({ err: error, task, tenant }, 'not all tasks below a cancelled one could be cancelled');
  }
}
