import { Cluster, Redis } from 'ioredis';
import type { Log } from '../log/create-log.ts';
import { parseRedisAddress } from './redis-address.ts';

export type RedisClient = Redis | Cluster;

/**
 * - `commands`: every call ends within `COMMAND_TIMEOUT_MS`, also while Redis is away or the link is half open
 * - `blocking`: waits for as long as the server does; for BullMQ's workers
 * - `subscriber`: listens to channels
 */
export type ConnectionRole = 'commands' | 'blocking' | 'subscriber';

export interface ConnectOptions {
  url: string;
  /** Shown in `CLIENT LIST`. */
  name: string;
  log: Log;
  role?: ConnectionRole;
}

/** A call may wait for another one that hangs before it, and both together have to end within the 2 s of a 503. */
export const COMMAND_TIMEOUT_MS = 900;
/** BullMQ's own backoff makes a 20 s outage 38 s long; a second is short enough for people and long enough for Redis. */
const RECONNECT_MAX_MS = 1000;
/** A link on which nothing comes back for so long is dead, whatever TCP says. Longer than BullMQ's blocking reads (5 s). */
const SOCKET_TIMEOUT_MS = 10_000;

/** Opens a connection in the background: commands given before it stands wait for it, within their timeout. */
export function connectRedis({ url, name, log, role = 'commands' }: ConnectOptions): RedisClient {
  const address = parseRedisAddress(url);
  const options = {
    ...address.options,
    connectionName: `muster:${name}`,
    connectTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MAX_MS),
    reconnectOnError: (error: Error): 2 | false => (error.message.startsWith('READONLY') ? 2 : false),
    ...roleOptions(role),
  };
  const client =
    address.kind === 'cluster'
      ? new Cluster(address.nodes, {
          redisOptions: options,
          clusterRetryStrategy: options.retryStrategy,
          enableAutoPipelining: role === 'commands',
        })
      : new Redis(options);
  reportState(client, log.child({ connection: name }));
  return client;
}

function roleOptions(role: ConnectionRole): Record<string, unknown> {
  if (role === 'commands') {
    return { commandTimeout: COMMAND_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS, maxRetriesPerRequest: 20, enableAutoPipelining: true };
  }
  if (role === 'blocking') return { maxRetriesPerRequest: null, socketTimeout: SOCKET_TIMEOUT_MS };
  return { maxRetriesPerRequest: null, autoResubscribe: true };
}

/** One line when the connection breaks and one when it is back, not one per attempt. */
function reportState(client: RedisClient, log: Log): void {
  let isDown = false;
  client.on('error', (error: Error) => {
    if (!isDown) log.warn({ event: 'redis.lost', reason: error.message }, 'Redis does not answer');
    isDown = true;
  });
  client.on('ready', () => {
    if (isDown) log.info({ event: 'redis.back' }, 'Redis is back');
    isDown = false;
  });
}
