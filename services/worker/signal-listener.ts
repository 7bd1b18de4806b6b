import { parseWorkerSignal } from '#shared/ledger/parse-worker-signal.ts';
import { workerChannel } from '#shared/ledger/worker-channel.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import type { Keys } from '#shared/redis/keys.ts';

export interface SignalListenerOptions {
  /** A connection for this alone; closed by `close`. */
  subscriber: RedisClient;
  keys: Keys;
  log: Log;
  /** Called with the lease member of an attempt that somebody wants to stop, here or elsewhere. */
  onStop: (member: string) => void;
  /** Called with the lease member of an attempt for whose run messages wait. */
  onInput: (member: string) => void;
}

/** Listens for stops and for input. They make both quick; the lease renewal sees what was missed here. */
export function listenForSignals({ subscriber, keys, log, onStop, onInput }: SignalListenerOptions): { close(): void } {
  const channels = Array.from({ length: keys.shards }, (_, shard) => workerChannel(keys.shard(shard).signal));
  subscriber.on('message', (_channel: string, message: string) => {
    const { kind, member } = parseWorkerSignal(message);
    if (kind === 'stop') onStop(member);
    else onInput(member);
  });
  subscriber.subscribe(...channels).catch((error: unknown) => log.debug({ err: error }, 'stops and input are seen at lease renewals only'));
  return { close: () => subscriber.disconnect() };
}
