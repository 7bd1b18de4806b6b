import { CHAT_PLATFORMS, type ChatPlatformName } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { Ticker } from '../time/index.ts';
import type { Schedule } from './store/schedule.ts';

/** The chat of the console and the API: its `channel` is a session, and the runs are turns of it. */
export const WEB_CHAT = 'webchat';

/** The places that can receive a schedule's results. */
export const SCHEDULE_PLATFORMS = [...CHAT_PLATFORMS, WEB_CHAT] as const;
type SchedulePlatform = (typeof SCHEDULE_PLATFORMS)[number];

/** The session that the runs belong to; null for none. */
export function sessionOf({ session, platform, channel }: Pick<Schedule, 'session' | 'platform' | 'channel'>): string | null {
  return session ?? (platform === WEB_CHAT ? channel : null);
}

interface Place {
  redis: RedisClient;
  keys: Keys;
}

/** How long a platform counts as served after its announcement: longer than a deploy takes. */
const SERVED_MS = 600_000;
const ANNOUNCE_EVERY_MS = 60_000;

/** Announces the platforms that this process serves, now and periodically. Returns the function that ends it. */
export async function announcePlatforms(
  { redis, keys, log }: Place & { log: Log },
  names: readonly ChatPlatformName[],
): Promise<() => void> {
  const announce = async (): Promise<void> => {
    await Promise.all(names.map((name) => redis.set(keys.fleet.servedPlatform(name), '1', 'PX', SERVED_MS)));
  };
  const onError = (error: unknown): void => log.debug({ err: error }, 'chat platforms are announced later');
  const ticker = new Ticker({ everyMs: ANNOUNCE_EVERY_MS, run: announce, onError });
  ticker.start();
  await announce().catch(onError);
  return () => void ticker.stop();
}

/** Refuses a platform that no chat process serves, because results would be lost. Errors: `schedule.platform-off`. */
export async function assertServed({ redis, keys }: Place, platform: SchedulePlatform | null | undefined): Promise<void> {
  if (platform == null || platform === WEB_CHAT || (await redis.exists(keys.fleet.servedPlatform(platform))) === 1) return;
  throw new MusterError('schedule.platform-off', `platform: expected a platform that a chat service serves; none serves ${platform} now`, {
    details: { platform },
  });
}
