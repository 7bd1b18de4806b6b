import { QueueKeys, RedisConnection, RedisQueueBackend, type BackendFactory, type KeyPrefixOptions, type QueueBaseOptions } from 'bullmq';
import type { RedisClient } from '../redis/index.ts';

/** The oldest Redis that Muster supports, as `doctor` says. */
const OLDEST_REDIS = '6.2.0';

export interface BackendOptions {
  /** Of BullMQ's keys. */
  prefix: string;
  main: RedisClient;
  /** Waits for jobs; only what takes jobs needs it. */
  blocking?: RedisClient;
}

/**
 * How BullMQ reaches Redis: on connections that stay the caller's, and without a question first. BullMQ asks for the server's version
 * and keeps a failed answer as long as the process lives, so that one slow reply would leave the queue dead.
 */
export function openBackend({ prefix, main, blocking }: BackendOptions): BackendFactory<RedisQueueBackend> {
  RedisConnection.minimumVersion = OLDEST_REDIS;
  const keys = new QueueKeys(prefix);
  return (name, options) => {
    const prefixed: QueueBaseOptions & KeyPrefixOptions = { ...options, prefix };
    const waiting = blocking && attach(blocking, true);
    return new RedisQueueBackend(attach(main, false), name, keys.getKeys(name), (type) => keys.toKey(name, type), prefixed, waiting);
  };
}

function attach(client: RedisClient, blocking: boolean): RedisConnection {
  return new RedisConnection(client, { shared: true, blocking, skipVersionCheck: true, skipWaitingForReady: true });
}
