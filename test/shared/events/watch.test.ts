import { afterEach, expect, it, vi } from 'vitest';
import { EventFeed, type EventHint, watchTask, watchTenant } from '#shared/events/watch.ts';
import type { Subscription } from '#shared/redis/subscription.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { watchSession } from '../../../services/api/sessions/stream-session.ts';

const HINTS = 1000;
const LONG_MS = 60_000;

afterEach(() => vi.restoreAllMocks());

/** A feed of one topic that the test fills. */
function openFeed(): { hint: (event: string) => void; on: (_tenant: string, ...rest: unknown[]) => () => void } {
  const listeners = new Set<(hint: EventHint) => void>();
  return {
    hint: (event) => {
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
const feed = openFeed();
const watches = {
  'a task': () => watchTask({ onTask: feed.on }, 't', '1', signal),
  'a tenant': () => watchTenant({ onTenant: feed.on }, 't', () => true, signal),
  'a session': () => watchSession({ onSession: feed.on, onTask: feed.on }, 't', 's', signal),
};

it.each(Object.entries(watches))('a reader of %s is woken once, however many hints come before it reads', async (_name, open) => {
  const abort = vi.spyOn(AbortController.prototype, 'abort');
  const watch = open();
  for (let read = 0; read < 3; read += 1) {
    abort.mockClear();
    const next = watch.next(LONG_MS);
    for (let count = 0; count < HINTS; count += 1) feed.hint('task.started');
    await next;
    expect(abort).toHaveBeenCalledTimes(1);
  }
  watch.stop();
});

it('a feed has the hints of all tenants that share a message', () => {
  const listeners: ((message: string) => void)[] = [];
  const subscription = { start: () => undefined, close: () => undefined, problem: null } as unknown as Subscription;
  const events = new EventFeed({ keys: createKeys(1), subscribe: (_channels, onMessage) => (listeners.push(onMessage), subscription) });
  const hints: string[] = [];
  for (const tenant of ['one', 'two'])
    for (const task of ['a', 'b']) events.onTask(tenant, task, ({ event }) => hints.push(`${tenant}/${task} ${event}`));
  for (const listener of listeners) listener('one/a,b/task.created\ntwo/b/task.started');
  expect(hints).toEqual(['one/a task.created', 'one/b task.created', 'two/b task.started']);
});
