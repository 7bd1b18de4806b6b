/**
 * Connections to Redis and how commands reach it: every key by name, scripts with their fragments, subscriptions, and the watch over a
 * connection that stands still. Only this folder knows ioredis.
 */
export { assertServer, OLDEST_REDIS, readEvictionPolicy, scriptsProblem } from './server/assert-server.ts';
export { ConnectionWatch, isRedisUnavailable, retryWhileAway } from './availability.ts';
export { type RedisClient, commandsSentBy, connectRedis } from './connect-redis.ts';
export { FleetId } from './fleet-id.ts';
export { FsyncBarrier } from './server/fsync-barrier.ts';
export { runGathered } from './gathered-scripts.ts';
export {
  assertInstallation,
  DATA_FORM,
  DATA_LEVEL,
  FORM_BEFORE,
  installationProblem,
  installationText,
  readDataForm,
  readForeignProcesses,
} from './installation.ts';
export type { FleetKeys } from './fleet-keys.ts';
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
export {
  clockSkew,
  describeSkew,
  fullestOf,
  isEntryId,
  pairs,
  type NodeMemory,
  readMemory,
  redisNow,
  scanHash,
  scanKeys,
  scanSortedSet,
} from './replies.ts';
export { type Refusal, describeRefusal, refusalOf } from './refusals.ts';
export { probeRefusal } from './probe-refusal.ts';
export { knownRefusal, noteRefusal } from './report-outages.ts';
export { runTogether } from './run-together.ts';
export { type Script, type ScriptCall, loadScripts, runScript, scriptJson, sendCommand, sendInOneWrite } from './script.ts';
export { Subscription } from './subscription.ts';
export type { TenantKeys } from './tenant-keys.ts';
