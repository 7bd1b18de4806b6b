import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readNotifications } from './read-notifications.ts';
import { startApi } from './start-api.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/redis/use-redis.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url, { events: { lookMs: 100, commentMs: 50 } }));

const eventsKey = (tenant: string): string => api.parts.keys.tenant(tenant).events;

/** Tasks that are accepted together, which are one entry of the event stream. */
async function submit(tenant: string, count: number): Promise<string[]> {
  const accepting = Array.from({ length: count }, () => acceptTask(api.parts, { tenant, agent: 'echo', input: 'hello' }));
  return (await Promise.all(accepting)).map(({ id }) => id);
}

async function tell(tenant: string, schedule: string, reason = ''): Promise<string | null> {
  return await api.parts.redis.xadd(eventsKey(tenant), '*', 'event', 'schedule.changed', 'schedule', schedule, 'reason', reason);
}

describe('a reader that was cut off', () => {
  it('goes on where it was: nothing is lost and nothing comes twice', async () => {
    const { limits } = api.parts.config.settings;
    Object.assign(limits.tenants, { cut: { ...limits.tenant, waiting: null, rates: {} } });
    const key = await api.keyOf('cut', ['read']);
    const sent: string[] = await submit('cut', 1);
    let lastEventId = '0-0';
    const heard: string[] = [];
    // Reads so many and is cut, mostly in the middle of an entry.
    const hear = async (count: number, meanwhile: number): Promise<void> => {
      const reader = await readNotifications(api, { key, kinds: 'task.created', lastEventId });
      sent.push(...(await submit('cut', meanwhile)));
      await waitFor(() => reader.told().length >= count, { deadlineMs: 5000, what: `${count} more than ${heard.length}` });
      const seen = reader.events.filter(({ event }) => event === 'notification').slice(0, count);
      heard.push(...seen.map(({ data }) => (JSON.parse(data) as { taskId: string }).taskId));
      lastEventId = seen.at(-1)?.id ?? lastEventId;
      await reader.leave();
      sent.push(...(await submit('cut', 20)));
    };
    for (const count of [1, 7, 30, 2, 40, 19]) await hear(count, count);
    await hear(sent.length - heard.length, 0);
    expect(heard).toEqual(sent.slice(0, heard.length));
    expect(sent).toHaveLength(heard.length + 20);
  });

  it('before it was told anything goes on from when it began', async () => {
    const key = await api.keyOf('early', ['read']);
    const reader = await readNotifications(api, { key });
    expect(reader.lastEventId()).toBe('0-0');
    await reader.leave();
    await tell('early', 'first');
    const again = await readNotifications(api, { key, lastEventId: '0-0' });
    await again.hears({ kind: 'schedule.changed', scheduleId: 'first' });
    expect(again.events.map(({ event }) => event)).toEqual(['open', 'notification']);
    await again.leave();
  });

  it('for too long is told that there is a gap, and what there still is', async () => {
    const key = await api.keyOf('gap', ['read']);
    const reader = await readNotifications(api, { key });
    await tell('gap', 'seen');
    await reader.hears({ scheduleId: 'seen' });
    const from = reader.lastEventId();
    await reader.leave();
    await tell('gap', 'lost');
    const oldest = await tell('gap', 'kept');
    await api.parts.redis.xtrim(eventsKey('gap'), 'MAXLEN', 1);
    const again = await readNotifications(api, { key, lastEventId: from });
    await again.hears({ scheduleId: 'kept' });
    expect(again.events.map(({ event, data }) => [event, event === 'gap' ? JSON.parse(data) : ''])).toEqual([
      ['open', ''],
      ['gap', { from, oldest }],
      ['notification', ''],
    ]);
    await again.leave();
  });

  it('and comes with a place that Redis no longer knows is told so, and hears what comes', async () => {
    const key = await api.keyOf('future', ['read']);
    const oldest = await tell('future', 'there');
    const reader = await readNotifications(api, { key, lastEventId: '9999999999999-0' });
    await waitFor(() => reader.events.length === 2, { deadlineMs: 5000, what: 'the gap' });
    expect(reader.events[1]).toMatchObject({ event: 'gap', data: JSON.stringify({ from: '9999999999999-0', oldest }) });
    await tell('future', 'new');
    await reader.hears({ scheduleId: 'new' });
    await reader.leave();
  });

  it('is no reader of a gap when all that came since is there', async () => {
    const key = await api.keyOf('whole', ['read']);
    const reader = await readNotifications(api, { key });
    const seen = (await tell('whole', 'one')) ?? '';
    await tell('whole', 'two');
    await reader.hears({ scheduleId: 'two' });
    await reader.leave();
    const again = await readNotifications(api, { key, lastEventId: seen });
    await again.hears({ scheduleId: 'two' });
    expect(again.events.map(({ event }) => event)).toEqual(['open', 'notification']);
    await again.leave();
  });
});

describe('a quiet stream', () => {
  it('says a comment again and again, and with it where to go on after what nobody wanted', async () => {
    const key = await api.keyOf('quiet', ['read']);
    const reader = await readNotifications(api, { key });
    await waitFor(() => reader.text().split(/^: heartbeat$/m).length > 3, { deadlineMs: 5000, what: 'three comments' });
    await submit('quiet', 3);
    const [[newest] = ['']] = await api.parts.redis.xrevrange(eventsKey('quiet'), '+', '-', 'COUNT', 1);
    await waitFor(() => reader.lastEventId() === newest, { deadlineMs: 5000, what: 'the place behind the tasks' });
    expect(reader.events.map(({ event }) => event)).toEqual(['open']);
    await reader.leave();
  });
});

describe('a reader that does not read', () => {
  it('is cut off, gives its place to the next, and misses nothing when it comes back', async () => {
    const small = await startApi(redis.url, { http: { slowReaderMs: 1000, maxStreams: 1 } });
    onTestFinished(() => small.close());
    const tenant = 'slow';
    const key = await api.keyOf(tenant, ['read']);
    const first = (await tell(tenant, 'first')) ?? '';
    for (let count = 0; count < 200; count += 1) await tell(tenant, `${count}`, 'x'.repeat(65_536));
    const stuck = connect(Number(new URL(small.url).port), '127.0.0.1');
    stuck.pause();
    stuck.write(`GET /v1/notifications/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nLast-Event-ID: ${first}\r\n\r\n`);
    // Its answer has begun, so the only place is taken.
    await once(stuck, 'readable');
    const reader = await waitFor(() => readNotifications(small, { key, lastEventId: first }).catch(() => null), {
      deadlineMs: 10_000,
      what: 'the place to be free',
    });
    await reader.hears({ scheduleId: '199' });
    expect(reader.told().map(({ scheduleId }) => scheduleId)).toEqual(Array.from({ length: 200 }, (_, count) => `${count}`));
    stuck.destroy();
    await reader.leave();
  });
});
