/**
 * Connections to Redis and how commands reach it: every key by name, scripts with their fragments, subscriptions, and the watch over a
 * connection that stands still. Only this folder knows ioredis.
 */
export { type RedisClient, connectRedis } from './connect-redis.ts';
export { ConnectionWatch, isRedisUnavailable } from './connection-watch.ts';
export { assertInstallation, installationProblem } from './installation.ts';
export { type Keys, type ShardKeys, createKeys } from './keys.ts';
export {
  type ReadRecords,
  type UnreadableRecord,
  readRecord,
  readRecords,
  reasonOf,
  unreadable,
  unreadableOf,
  unreadableSchema,
} from './read-records.ts';
export { clockSkew, describeSkew, redisNow } from './redis-clock.ts';
export { isEntryId, pairs, scanHash, scanKeys, scanSortedSet } from './replies.ts';
export { retryWhileAway } from './retry.ts';
export { type Script, loadScripts, runScript, scriptJson, sendCommand } from './script.ts';
export { Subscription } from './subscription.ts';
export type { TenantKeys } from './tenant-keys.ts';
