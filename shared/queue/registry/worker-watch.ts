import type { Log } from '../../log/index.ts';
import { findUnservedQueues, type UnservedPorts } from './unserved-queues.ts';
import { markDeadWorkers } from './worker-registry.ts';

/** What operators are notified of at once; a queue without a worker is a finding. */
export interface FleetNotice {
  event: 'worker.lost';
  worker: string;
}

export interface WatchWorkersPorts extends UnservedPorts {
  /** Called with each notice, once in the fleet. */
  onNotice: (notice: FleetNotice) => void;
  readonly log: Log;
}

/**
 * Notes workers without a heartbeat, also idle ones, and queues whose tasks no worker takes. Workers and APIs do, so that the end of a fleet's
 * only worker is noticed too.
 */
export async function watchWorkers(ports: WatchWorkersPorts): Promise<void> {
  const { onNotice, log } = ports;
  for (const worker of await markDeadWorkers(ports)) {
    log.warn({ event: 'worker.lost', worker }, 'a worker is lost: its heartbeats stopped');
    onNotice({ event: 'worker.lost', worker });
  }
  for (const { event, queue, reason } of await findUnservedQueues(ports)) {
    if (event === 'recovered') log.info({ event: 'queue.served', queue }, reason);
    else log.warn({ event: 'queue.unserved', queue }, reason);
  }
}

/** Less than the whole time between two watches, so that the next one finds the mark gone. */
const MARKED_SHARE = 0.8;

/** The same, unless another process has done so lately: a worker and an API may both have the chore. */
export async function watchWorkersOnce(ports: WatchWorkersPorts): Promise<void> {
  const { redis, keys, settings } = ports;
  const markedMs = Math.floor(MARKED_SHARE * settings.worker.heartbeatIntervalMs);
  if ((await redis.set(keys.fleet.workersWatched, '1', 'PX', markedMs, 'NX')) !== null) await watchWorkers(ports);
}
