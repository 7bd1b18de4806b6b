import { z } from 'zod';
import { type Keys, readRecords, type RedisClient } from '../redis/index.ts';

interface FleetPlace {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const refusalSchema = z.strictObject({ reason: z.string(), since: z.number() });

/** A chat platform that refuses what this fleet says who it is. */
interface RefusedPlatform extends z.infer<typeof refusalSchema> {
  readonly platform: string;
}

/** Without a process that serves the platform, its refusal is forgotten. */
const KEPT_MS = 900_000;

/** Notes why a platform refuses its secrets, or with null that it does not. */
export async function noteRefusal(
  { redis, keys }: FleetPlace,
  platform: string,
  refusal: Omit<RefusedPlatform, 'platform'> | null,
): Promise<void> {
  const key = keys.fleet.refusedPlatforms;
  if (refusal === null) await redis.hdel(key, platform);
  else await redis.multi().hset(key, platform, JSON.stringify(refusal)).pexpire(key, KEPT_MS).exec();
}

export async function readRefusals({ redis, keys }: FleetPlace): Promise<RefusedPlatform[]> {
  const stored = await redis.hgetall(keys.fleet.refusedPlatforms);
  return readRecords(Object.entries(stored), (text, platform) => ({ platform, ...refusalSchema.parse(JSON.parse(text)) })).items;
}
