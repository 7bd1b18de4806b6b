import { wait } from '#shared/time/wait.ts';
import { ADMIN_KEY, type BenchFleet } from './start-fleet.ts';

const TICK_MS = 250;
/** Events of a task at first; the feed measures them. */
const EVENTS_PER_TASK = 4;
const WARM_MS = 5000;

export interface Feed {
  /** Events that arrived in a second, since the last call. */
  rate(): number;
  stop(): Promise<void>;
}

/** Submits tasks so that so many events a second arrive at a listener. */
export async function startFeed(fleet: BenchFleet, eventsPerSecond: number): Promise<Feed> {
  const stop = new AbortController();
  const events = countEvents(fleet.url, stop.signal);
  let [since, seen, tasks] = [performance.now(), 0, 0];
  let debt = 0;
  const submit = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const perTask = tasks > 500 ? Math.max(1, events.count / tasks) : EVENTS_PER_TASK;
      debt += (eventsPerSecond * TICK_MS) / 1000 / perTask;
      const count = Math.floor(debt);
      debt -= count;
      if (count > 0) await fleet.call('POST', '/v1/tasks/bulk', { items: Array.from({ length: count }, (_, n) => taskOf(tasks + n)) });
      tasks += count;
      await wait(TICK_MS);
    }
  };
  const submitting = submit();
  await wait(WARM_MS);
  return {
    rate: () => {
      const now = performance.now();
      const rate = ((events.count - seen) * 1000) / (now - since);
      [since, seen] = [now, events.count];
      return rate;
    },
    stop: async () => {
      stop.abort();
      await Promise.all([submitting, events.ended]);
    },
  };
}

/** Runs for half a second or so, and fails now and then. */
function taskOf(n: number): Record<string, unknown> {
  return {
    agent: 'echo',
    input: `Event ${n} of the feed`,
    ...(n % 3 === 0 ? { session: `feed-${n % 90}` } : {}),
    context: { paceMs: 100, ...(n % 20 === 0 ? { failAttempts: 3, failCode: `FEED_${n % 3}` } : {}) },
    execution: { maxAttempts: 1 },
  };
}

/** Counts the events of the stream that the console reads. */
function countEvents(url: string, signal: AbortSignal): { count: number; ended: Promise<void> } {
  const counter = { count: 0, ended: Promise.resolve() };
  const read = async (): Promise<void> => {
    const answer = await fetch(`${url}/v1/notifications/stream?kinds=*`, { headers: { authorization: `Bearer ${ADMIN_KEY}` }, signal });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      counter.count += decoder.decode(chunk as Uint8Array, { stream: true }).split('event: notification').length - 1;
    }
  };
  counter.ended = read().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return counter;
}
