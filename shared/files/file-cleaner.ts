import pMap from 'p-map';
import type { FileSettings } from '../config/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { runFileScript } from './file-records.ts';
import type { FileStorage } from './storage/file-storage.ts';

interface FileCleanerPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<FileSettings, 'checkMs'>;
  readonly storage: FileStorage;
}

/** Files checked in one round, of one shard. */
const MAX_PER_ROUND = 500;
const CHECKS_AT_ONCE = 8;

/** Removes files that are due for a check and that no kept task has, at this time (Redis's, ms). Returns how many. */
export async function removeUnused(ports: FileCleanerPorts, now: number): Promise<number> {
  const { redis, keys } = ports;
  let removed = 0;
  for (let shard = 0; shard < keys.shards; shard += 1) {
    const members = await redis.zrangebyscore(keys.shard(shard).filesDue, '-inf', now, 'LIMIT', 0, MAX_PER_ROUND);
    const results = await pMap(members, (member) => checkMember(ports, member), { concurrency: CHECKS_AT_ONCE });
    removed += results.filter(Boolean).length;
  }
  return removed;
}

async function checkMember(ports: FileCleanerPorts, member: string): Promise<boolean> {
  const [tenant = '', file = ''] = member.split('/');
  return await removeIfUnused(ports, tenant, file);
}

/** Removes a file unless a kept task has it. Returns whether it was removed. */
export async function removeIfUnused({ redis, keys, settings, storage }: FileCleanerPorts, tenant: string, file: string): Promise<boolean> {
  const own = keys.tenant(tenant);
  const { filesDue } = keys.shard(keys.shardOf(tenant));
  const [kind, ...gone] = await runFileScript(
    redis,
    'check-file',
    [own.files, own.fileTotals, own.fileOwners, filesDue, own.bodies],
    [tenant, file, settings.checkMs],
  );
  if (gone.length > 0) await redis.unlink(...gone.map((task) => own.taskFiles(task)));
  if (kind === 'kept') return false;
  await storage.remove({ tenant, file });
  await redis.zrem(filesDue, `${tenant}/${file}`);
  return true;
}
