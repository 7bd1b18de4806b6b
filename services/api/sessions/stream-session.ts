import { z } from 'zod';
import { route, type Route, type EventStream } from '#shared/http/index.ts';
import { parseOutputPlace } from '../tasks/stream-output.ts';
import type { StreamPorts } from '../tasks/stream-task.ts';
import { sessionStreamSchema } from './session-events.ts';
import { sessionPathSchema } from './sessions.ts';
import { SessionFollower } from './session-follower.ts';
import type { TurnPorts } from './session-turns.ts';
import type { EventFeed } from '#shared/events/index.ts';
import { wait } from '#shared/time/index.ts';

export type SessionStreamPorts = StreamPorts & TurnPorts;

/** `GET /v1/sessions/:id/stream`: the events of a session, for a chat's page. It stays open. */
export function streamSession(parts: SessionStreamPorts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/stream',
    operationId: 'streamSession',
    summary: 'Events of a session while they happen',
    description:
      'Server-sent events. First `history`: the latest messages that have their outcome. Then, for each message without an outcome and each new message: `message`, `status`, `output`, `question` where its run asks people, and once `end`. A repeated run starts at `seq` 1 again. With `Last-Event-ID` (or `?lastEventId=`) output continues after that event; all other events are sent again.',
    scope: 'read',
    forVisitors: true,
    media: 'text/event-stream',
    request: {
      params: sessionPathSchema,
      headers: z.object({ 'last-event-id': z.string().optional() }),
      query: z.object({ lastEventId: z.string().optional() }),
    },
    responses: { 200: sessionStreamSchema },
    handle: ({ params, query, headers }, { tenant, key }) => {
      const after = parseOutputPlace(headers['last-event-id'] ?? query.lastEventId);
      const options = { tenant, session: params.id, after, until: key?.expiresAt ?? Infinity };
      return { status: 200, events: (stream) => writeSessionEvents(parts, options, stream) };
    },
  });
}

/** Longest between two reads of everything, for when a hint was lost or none was sent. */
const POLL_MS = 2000;

interface SessionEventsOptions {
  tenant: string;
  session: string;
  /** The output that the reader saw last; null from the start. */
  after: string | null;
  /** When the reader's token expires, ms since the epoch. */
  until: number;
}

/** Writes the events of a session until the reader is gone or its token expired. */
export async function writeSessionEvents(parts: SessionStreamPorts, options: SessionEventsOptions, stream: EventStream): Promise<void> {
  const { tenant, session, after, until } = options;
  const watch = watchSession(parts.events, tenant, session, stream.signal);
  const follower = new SessionFollower({ parts, tenant, session, watch, stream, after });
  try {
    await follower.begin();
    let polledAt = performance.now();
    while (!stream.signal.aborted && Date.now() < until) {
      const dueMs = Math.max(0, polledAt + POLL_MS - performance.now());
      const news = await watch.next(Math.min(dueMs, until - Date.now()));
      const isPoll = performance.now() - polledAt >= POLL_MS;
      if (isPoll) polledAt = performance.now();
      await follower.update(isPoll ? undefined : news.tasks);
      if (isPoll || news.session) await follower.discover();
    }
  } finally {
    watch.stop();
  }
}

/** Hints about changes. */
interface SessionNews {
  /** The session itself: messages came. */
  session: boolean;
  tasks: ReadonlySet<string>;
}

/** Wakes the reader of one session when something may have changed. */
export interface SessionWatch {
  /** Listens to this task too. */
  add(task: string): void;
  remove(task: string): void;
  /** Resolves with the hints since the last call; waits for a hint for `ms` milliseconds at most. */
  next(ms: number): Promise<SessionNews>;
  stop(): void;
}

/** Begins to listen; hints may be lost, so a reader also polls. `signal` ends all waiting. */
export function watchSession(
  events: Pick<EventFeed, 'onTask' | 'onSession'>,
  tenant: string,
  session: string,
  signal: AbortSignal,
): SessionWatch {
  let isHinted = false;
  let hinted = new Set<string>();
  let wake = new AbortController();
  const listening = new Map<string, () => void>();
  // Once: each abort makes an error with its stack, and a session's tasks may write a thousand times before its reader wakes.
  const wakeReader = (): void => {
    if (!wake.signal.aborted) wake.abort();
  };
  const stop = events.onSession(tenant, session, () => {
    isHinted = true;
    wakeReader();
  });
  return {
    add: (task) => {
      if (listening.has(task)) return;
      const leave = events.onTask(tenant, task, () => {
        hinted.add(task);
        wakeReader();
      });
      listening.set(task, leave);
    },
    remove: (task) => {
      listening.get(task)?.();
      listening.delete(task);
    },
    next: async (ms) => {
      if (!wake.signal.aborted) await wait(ms, AbortSignal.any([wake.signal, signal]));
      const news: SessionNews = { session: isHinted, tasks: hinted };
      isHinted = false;
      hinted = new Set();
      wake = new AbortController();
      return news;
    },
    stop: () => {
      stop();
      for (const leave of listening.values()) leave();
      listening.clear();
    },
  };
}
