import type { Parts } from '#shared/lifecycle/index.ts';
import { Watchdog } from './watchdog.ts';

/** The watchdog of this process, which runs attempts as `worker`. */
export function openWatchdog({ config, keys, log }: Parts, worker: string): Watchdog {
  const { blockedMs, maxBlockedMs } = config.settings.worker;
  return new Watchdog({ worker, redisUrl: config.env.REDIS_URL, shards: keys.shards, blockedMs, maxBlockedMs, log });
}
