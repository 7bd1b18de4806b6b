/**
 * Connections to Redis and how commands reach it: every key by name, scripts with their fragments, subscriptions, and the watch over a
 * connection that stands still. Only this folder knows ioredis.
 */
export { assertInstallation } from './assert-installation.ts';
export { clockSkew, describeSkew } from './clock-skew.ts';
export { type RedisClient, connectRedis } from './connect-redis.ts';
export { ConnectionWatch } from './connection-watch.ts';
export { installationProblem } from './installation-problem.ts';
export { isEntryId } from './is-entry-id.ts';
export { isRedisUnavailable } from './is-redis-unavailable.ts';
export { type Keys, type ShardKeys, type TenantKeys, createKeys } from './keys.ts';
export { pairs } from './pairs.ts';
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
export { redisNow } from './redis-now.ts';
export { scanKeys } from './scan-keys.ts';
export { scriptJson } from './script-json.ts';
export { type Script, loadScripts, runScript } from './script.ts';
export { sendCommand } from './send-command.ts';
export { Subscription } from './subscription.ts';
