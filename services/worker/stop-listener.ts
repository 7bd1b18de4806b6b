import { stopChannel } from '#shared/ledger/cancel-task.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Keys } from '#shared/redis/keys.ts';

export interface StopListenerOptions {
  /** A connection for this alone; closed by `close`. */
  subscriber: RedisClient;
  keys: Keys;
  log: Log;
  /** Called with the lease member of an attempt that somebody wants to stop, here or elsewhere. */
  onStop: (member: string) => void;
}

/** Listens for stops. They make a cancel quick; the lease renewal sees every stop that was missed here. */
export function listenForStops({ subscriber, keys, log, onStop }: StopListenerOptions): { close(): void } {
  const channels = Array.from({ length: keys.shards }, (_, shard) => stopChannel(keys.shard(shard).signal));
  subscriber.on('message', (_channel: string, member: string) => onStop(member));
  subscriber.subscribe(...channels).catch((error: unknown) => log.debug({ err: error }, 'stops are seen at lease renewals only'));
  return { close: () => subscriber.disconnect() };
}
