import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { localRedisAddressSchema } from './local-redis-address.ts';

/** What a fleet leaves behind about its Redis, for the next one to find it should this one be killed. */
const redisRecordSchema = z.object({
  pid: z.number().int(),
  /** As `processStart` told it. */
  startedAt: z.string(),
  address: localRedisAddressSchema,
});
export type RedisRecord = z.infer<typeof redisRecordSchema>;

const fileIn = (directory: string): string => join(directory, 'server.json');

/** Null when there is none that can be read. */
export function readRedisRecord(directory: string): RedisRecord | null {
  try {
    return redisRecordSchema.parse(JSON.parse(readFileSync(fileIn(directory), 'utf8')));
  } catch {
    return null;
  }
}

/** Readable by the owner only: it holds the password. */
export function writeRedisRecord(directory: string, record: RedisRecord): void {
  const draft = `${fileIn(directory)}.draft`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  // A draft that was there already keeps its mode.
  chmodSync(draft, 0o600);
  renameSync(draft, fileIn(directory));
}

export function removeRedisRecord(directory: string): void {
  rmSync(fileIn(directory), { force: true });
}
