import { type OpenWait, takeOpenWait } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { resumeSending, seeToWait } from '#shared/waits/index.ts';
import { eachShard } from './each-shard.ts';

type SeeToWaitsPorts = Pick<Parts, 'ledger' | 'log' | 'waits'>;

/** Waits or events of one shard that one round sees to. */
const MAX_PER_ROUND = 1000;

/** Sees to waits that are older than `worker.cancelSweepMs`: the process whose run began to wait died before it did, or lost Redis. */
export async function seeToWaits(ports: SeeToWaitsPorts, signal: AbortSignal): Promise<void> {
  const { ledger } = ports;
  await eachShard(ledger.keys, async (shard) => {
    for (let taken = 0; taken < MAX_PER_ROUND && !signal.aborted; taken += 1) {
      const now = await redisNow(ledger.redis);
      const wait = await takeOpenWait(ledger, shard, { before: now - ledger.settings.worker.cancelSweepMs, now });
      if (wait === null) return;
      await seeSafely(ports, wait);
    }
  });
}

/** One bad run must not keep others from going on. */
async function seeSafely(ports: SeeToWaitsPorts, wait: OpenWait): Promise<void> {
  const { tenant, id: task } = wait;
  try {
    const reason = await seeToWait(ports, wait);
    if (reason !== null) ports.log.info({ event: 'wait.later', task, tenant, reason }, 'sub-tasks of a suspended run are accepted later');
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    ports.log.error({ err: error, task, tenant }, 'what a suspended run waits for could not be seen to');
  }
}

/** Goes on with events whose sending is older than `worker.cancelSweepMs`: it came to some of the runs before its process died or lost Redis. */
export async function sendEvents({ ledger, log }: Pick<Parts, 'ledger' | 'log'>, signal: AbortSignal): Promise<void> {
  await eachShard(ledger.keys, async (shard) => {
    for (let taken = 0; taken < MAX_PER_ROUND && !signal.aborted; taken += 1) {
      const now = await redisNow(ledger.redis);
      try {
        const id = await resumeSending(ledger, shard, { before: now - ledger.settings.worker.cancelSweepMs, now });
        if (id === null) return;
        log.warn({ event: 'event.sent-on', id }, 'sent an event on, whose process did not');
      } catch (error) {
        if (isRedisUnavailable(error)) throw error;
        log.error({ err: error, shard }, 'an event could not be sent on');
      }
    }
  });
}
