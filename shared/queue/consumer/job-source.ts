import type { Settings } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import { connectRedis, type Keys, type RedisClient } from '../../redis/index.ts';
import type { Queues } from '../queues.ts';

/** Where a process claims jobs; all its consumers share one. */
export interface JobSource {
  readonly keys: Keys;
  readonly settings: Settings;
  /** For reads of queues: each call ends in time. */
  readonly queues: Queues;
  /** For claimed jobs. Waits for Redis as long as necessary. */
  readonly connection: RedisClient;
  /** Opens a connection that may block; the caller closes it. `clientName` shows it as a worker of its queue. */
  open(clientName?: string): RedisClient;
  /** Ends the process, which cannot go on. */
  fail(error: Error): void;
  readonly log: Log;
  close(): void;
}

type SourceParts = Pick<JobSource, 'keys' | 'queues' | 'fail' | 'log'> & {
  config: { settings: Settings; env: { REDIS_URL: string } };
};

/** Opens the connection; `name` shows in `CLIENT LIST`. */
export function openJobSource({ keys, queues, fail, log, config }: SourceParts, name: string): JobSource {
  const open = (clientName?: string): RedisClient =>
    connectRedis({ url: config.env.REDIS_URL, name, log, role: 'blocking', ...(clientName === undefined ? {} : { clientName }) });
  const connection = open();
  return { keys, settings: config.settings, queues, connection, open, fail, log, close: () => connection.disconnect() };
}
