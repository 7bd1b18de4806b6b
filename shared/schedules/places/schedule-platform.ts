import { CHAT_PLATFORMS } from '../../config/index.ts';
import type { Schedule } from '../schedule.ts';

/** The console's and the API's own chat: its `channel` is a session, in which the runs are turns. */
export const WEB_CHAT = 'webchat';

/** Where a schedule's results can be sent. */
export const SCHEDULE_PLATFORMS = [...CHAT_PLATFORMS, WEB_CHAT] as const;
export type SchedulePlatform = (typeof SCHEDULE_PLATFORMS)[number];

/** The session that the runs belong to; null for none. */
export function sessionOf({ session, platform, channel }: Pick<Schedule, 'session' | 'platform' | 'channel'>): string | null {
  return session ?? (platform === WEB_CHAT ? channel : null);
}
