import type { ChatPlatformName } from '../../config/index.ts';
import type { ReplyAddress } from '../../tasks/index.ts';
import { sessionOf } from '../places/schedule-platform.ts';
import type { Schedule } from '../schedule.ts';

/** Where a `/schedule` command was written: in a chat of a platform, or in a session of web chat; nowhere for the tenant's own work. */
export interface CommandPlace {
  readonly reply?: ReplyAddress | undefined;
  readonly session?: string | undefined;
}

/** Parts of a thread's name that name its chat; what follows is a topic or a thread in it, which the same people see. */
const CHAT_PARTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ telegram: 2, slack: 2, discord: 3, whatsapp: 3 } satisfies Record<ChatPlatformName, number>),
);

/** Whether a command in this place sees and changes the schedule. In a chat these are the schedules made in it. */
export function isInScope(
  { reply, session }: CommandPlace,
  schedule: Pick<Schedule, 'reply' | 'session' | 'platform' | 'channel'>,
): boolean {
  if (reply !== undefined) return schedule.reply?.platform === reply.platform && chatOf(schedule.reply) === chatOf(reply);
  return session === undefined || sessionOf(schedule) === session;
}

function chatOf({ platform, thread }: ReplyAddress): string {
  const count = CHAT_PARTS.get(platform);
  return count === undefined ? thread : thread.split(':').slice(0, count).join(':');
}
