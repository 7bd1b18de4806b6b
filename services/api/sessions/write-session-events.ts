import type { EventStream } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { SessionFollower } from './session-follower.ts';
import { watchSession } from './watch-session.ts';

/** Longest between two looks at everything, for when a hint was lost or came from nobody. */
const LOOK_MS = 2000;

export interface SessionEventsOptions {
  tenant: string;
  session: string;
  /** The output that the reader saw last; null from the start. */
  after: string | null;
  /** When the reader's token expires, ms since the epoch. */
  until: number;
}

type StreamParts = Pick<Parts, 'ledger' | 'events' | 'redis' | 'keys'>;

/** Writes what happens in a session until the reader is gone or may read no more. */
export async function writeSessionEvents(parts: StreamParts, options: SessionEventsOptions, stream: EventStream): Promise<void> {
  const { tenant, session, after, until } = options;
  const watch = watchSession(parts.events, tenant, session, stream.signal);
  const follower = new SessionFollower({ parts, tenant, session, watch, stream, after });
  try {
    await follower.begin();
    let lookedAt = performance.now();
    while (!stream.signal.aborted && Date.now() < until) {
      const dueMs = Math.max(0, lookedAt + LOOK_MS - performance.now());
      const news = await watch.next(Math.min(dueMs, until - Date.now()));
      const isLook = performance.now() - lookedAt >= LOOK_MS;
      if (isLook) lookedAt = performance.now();
      await follower.update(isLook ? undefined : news.tasks);
      if (isLook || news.session) await follower.discover();
    }
  } finally {
    watch.stop();
  }
}
