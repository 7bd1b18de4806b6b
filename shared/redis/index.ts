/**
 * Connections to Redis and how commands reach it: every key by name, scripts with their fragments, subscriptions, and the watch over a
 * connection that stands still. Only this folder knows ioredis.
 */
export { assertInstallation } from './installation.ts';
export { clockSkew, describeSkew } from './redis-clock.ts';
export { type RedisClient, connectRedis } from './connect-redis.ts';
export { ConnectionWatch } from './connection-watch.ts';
export { installationProblem } from './installation.ts';
export { isEntryId } from './replies.ts';
export { isRedisUnavailable } from './connection-watch.ts';
export { type Keys, type ShardKeys, createKeys } from './keys.ts';
export type { TenantKeys } from './tenant-keys.ts';
export { pairs } from './replies.ts';
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
export { redisNow } from './redis-clock.ts';
export { scanKeys } from './replies.ts';
export { scriptJson } from './script.ts';
export { type Script, loadScripts, runScript } from './script.ts';
export { sendCommand } from './script.ts';
export { Subscription } from './subscription.ts';
