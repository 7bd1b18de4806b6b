import { afterEach, expect, it, vi } from 'vitest';
import type { EventHint } from '#shared/events/event-feed.ts';
import { watchTask } from '#shared/events/watch-task.ts';
import { watchTenant } from '../../../services/api/notifications/watch-tenant.ts';
import { watchSession } from '../../../services/api/sessions/stream-session.ts';

const HINTS = 1000;
const LONG_MS = 60_000;

afterEach(() => vi.restoreAllMocks());

/** A feed of one topic that the test speaks into. */
function speakingFeed(): { say: (event: string) => void; on: (_tenant: string, ...rest: unknown[]) => () => void } {
  const listeners = new Set<(hint: EventHint) => void>();
  return {
    say: (event) => {
      for (const listener of listeners) listener({ tenant: 't', task: '1', event });
    },
    on: (_tenant, ...rest) => {
      const listener = rest.at(-1) as (hint: EventHint) => void;
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const signal = new AbortController().signal;
const feed = speakingFeed();
const watches = {
  'a task': () => watchTask({ onTask: feed.on }, 't', '1', signal),
  'a tenant': () => watchTenant({ onTenant: feed.on }, 't', () => true, signal),
  'a session': () => watchSession({ onSession: feed.on, onTask: feed.on }, 't', 's', signal),
};

it.each(Object.entries(watches))('a reader of %s is woken once, however much happens before it looks', async (_name, open) => {
  const abort = vi.spyOn(AbortController.prototype, 'abort');
  const watch = open();
  for (let look = 0; look < 3; look += 1) {
    abort.mockClear();
    const next = watch.next(LONG_MS);
    for (let hint = 0; hint < HINTS; hint += 1) feed.say('task.started');
    await next;
    expect(abort).toHaveBeenCalledTimes(1);
  }
  watch.stop();
});
