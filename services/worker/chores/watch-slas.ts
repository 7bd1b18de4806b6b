import { breachSla, listPassedSlas, type PassedSla } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';

type SlaPorts = Pick<Parts, 'ledger' | 'redis' | 'log'>;

const PAGE = 500;
/** Tasks checked per shard in one round, the earliest sla first. */
const MAX_PER_ROUND = 5000;

/** Notes the tasks whose sla passed before their end: once each, in the metrics, as an event, and in the task's record. */
export async function watchSlas(ports: SlaPorts): Promise<void> {
  for (let shard = 0; shard < ports.ledger.keys.shards; shard += 1) await checkShard(ports, shard);
}

async function checkShard(ports: SlaPorts, shard: number): Promise<void> {
  const now = await redisNow(ports.redis);
  for (let seen = 0; seen < MAX_PER_ROUND; seen += PAGE) {
    const passed = await listPassedSlas(ports.ledger, shard, now, PAGE);
    const areNoted = await Promise.all(passed.map((each) => noteSafely(ports, each)));
    // Entries that failed would come again at once.
    if (passed.length < PAGE || areNoted.includes(false)) return;
  }
}

/** One bad entry must not keep the others from being noted. */
async function noteSafely({ ledger, log }: SlaPorts, passed: PassedSla): Promise<boolean> {
  const { tenant, id: task } = passed;
  try {
    const state = await breachSla(ledger, passed);
    if (state === null) return true;
    ledger.counts.slaBreached(tenant, state);
    log.warn({ event: 'task.sla-breached', task, tenant, status: state.status }, 'its sla passed before its end');
    return true;
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    log.error({ err: error, task, tenant }, 'an sla could not be checked');
    return false;
  }
}
