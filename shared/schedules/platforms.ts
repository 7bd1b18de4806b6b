import { CHAT_PLATFORMS, type ChatPlatformName } from '../config/index.ts';
import type { Schedule } from './store/schedule.ts';
import { MusterError } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';

/** The console's and the API's own chat: its `channel` is a session, in which the runs are turns. */
export const WEB_CHAT = 'webchat';

/** Where a schedule's results can be sent. */
export const SCHEDULE_PLATFORMS = [...CHAT_PLATFORMS, WEB_CHAT] as const;
export type SchedulePlatform = (typeof SCHEDULE_PLATFORMS)[number];

/** The session that the runs belong to; null for none. */
export function sessionOf({ session, platform, channel }: Pick<Schedule, 'session' | 'platform' | 'channel'>): string | null {
  return session ?? (platform === WEB_CHAT ? channel : null);
}

interface Place {
  redis: RedisClient;
  keys: Keys;
}

/** A platform counts as on for so long after a chat process last said so: longer than a deploy takes. */
const SERVED_MS = 600_000;
const AGAIN_MS = 60_000;

/** Says which platforms this process serves, now and from time to time. Returns what ends that. */
export async function announcePlatforms(
  { redis, keys, log }: Place & { log: Log },
  names: readonly ChatPlatformName[],
): Promise<() => void> {
  const announce = async (): Promise<void> => {
    await Promise.all(names.map((name) => redis.set(keys.fleet.servedPlatform(name), '1', 'PX', SERVED_MS))).catch((error: unknown) =>
      log.debug({ err: error }, 'chat platforms are announced later'),
    );
  };
  await announce();
  const timer = setInterval(() => void announce(), AGAIN_MS);
  return () => clearInterval(timer);
}

/** Refuses a platform that no chat process serves: results would be sent nowhere. Errors: `schedule.platform-off`. */
export async function assertServed({ redis, keys }: Place, platform: SchedulePlatform | null | undefined): Promise<void> {
  if (platform == null || platform === WEB_CHAT || (await redis.exists(keys.fleet.servedPlatform(platform))) === 1) return;
  throw new MusterError('schedule.platform-off', `platform: expected one that is on; no chat service serves ${platform} now`, {
    details: { platform },
  });
}
