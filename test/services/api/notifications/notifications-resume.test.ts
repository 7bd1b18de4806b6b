import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { readNotifications } from '../support/read-notifications.ts';
import { startApi } from '../support/start-api.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url, { events: { pollMs: 100, commentMs: 50 } }));

const eventsKey = (tenant: string): string => api.parts.keys.tenant(tenant).events;

/** Tasks that are accepted together, which are one entry of the event stream. */
async function submit(tenant: string, count: number): Promise<string[]> {
  const accepting = Array.from({ length: count }, () => acceptTask(api.parts, { tenant, agent: 'echo', input: 'hello' }));
  return (await Promise.all(accepting)).map(({ id }) => id);
}

async function publish(tenant: string, schedule: string, reason = ''): Promise<string | null> {
  return await api.parts.redis.xadd(eventsKey(tenant), '*', 'event', 'schedule.changed', 'schedule', schedule, 'reason', reason);
}

describe('a reader that was cut off', () => {
  it('goes on where it was: nothing is lost and nothing comes twice', async () => {
    const { limits } = api.parts.config.settings;
    Object.assign(limits.tenants, { cut: { ...limits.tenant, waiting: null, rates: {} } });
    const key = await api.keyOf('cut', ['read']);
    const sent: string[] = await submit('cut', 1);
    let lastEventId = '0-0';
    const received: string[] = [];
    // Reads so many and is cut, mostly in the middle of an entry.
    const receive = async (count: number, meanwhile: number): Promise<void> => {
      const reader = await readNotifications(api, { key, kinds: 'task.created', lastEventId });
      sent.push(...(await submit('cut', meanwhile)));
      await waitFor(() => reader.received().length >= count, { deadlineMs: 5000, what: `${count} more than ${received.length}` });
      const seen = reader.events.filter(({ event }) => event === 'notification').slice(0, count);
      received.push(...seen.map(({ data }) => (JSON.parse(data) as { taskId: string }).taskId));
      lastEventId = seen.at(-1)?.id ?? lastEventId;
      await reader.leave();
      sent.push(...(await submit('cut', 20)));
    };
    for (const count of [1, 7, 30, 2, 40, 19]) await receive(count, count);
    await receive(sent.length - received.length, 0);
    expect(received).toEqual(sent.slice(0, received.length));
    expect(sent).toHaveLength(received.length + 20);
  });

  it('before it received anything continues from when it began', async () => {
    const key = await api.keyOf('early', ['read']);
    const reader = await readNotifications(api, { key });
    expect(reader.lastEventId()).toBe('0-0');
    await reader.leave();
    await publish('early', 'first');
    const again = await readNotifications(api, { key, lastEventId: '0-0' });
    await again.waitFor({ kind: 'schedule.changed', scheduleId: 'first' });
    expect(again.events.map(({ event }) => event)).toEqual(['open', 'notification']);
    await again.leave();
  });

  it('for too long receives a gap, and what is still kept', async () => {
    const key = await api.keyOf('gap', ['read']);
    const reader = await readNotifications(api, { key });
    await publish('gap', 'seen');
    await reader.waitFor({ scheduleId: 'seen' });
    const from = reader.lastEventId();
    await reader.leave();
    await publish('gap', 'lost');
    const oldest = await publish('gap', 'kept');
    await api.parts.redis.xtrim(eventsKey('gap'), 'MAXLEN', 1);
    const again = await readNotifications(api, { key, lastEventId: from });
    await again.waitFor({ scheduleId: 'kept' });
    expect(again.events.map(({ event, data }) => [event, event === 'gap' ? JSON.parse(data) : ''])).toEqual([
      ['open', ''],
      ['gap', { from, oldest }],
      ['notification', ''],
    ]);
    await again.leave();
  });

  it('and comes with a position that Redis no longer knows receives a gap, and what follows', async () => {
    const key = await api.keyOf('future', ['read']);
    const oldest = await publish('future', 'there');
    const reader = await readNotifications(api, { key, lastEventId: '9999999999999-0' });
    await waitFor(() => reader.events.length === 2, { deadlineMs: 5000, what: 'the gap' });
    expect(reader.events[1]).toMatchObject({ event: 'gap', data: JSON.stringify({ from: '9999999999999-0', oldest }) });
    await publish('future', 'new');
    await reader.waitFor({ scheduleId: 'new' });
    await reader.leave();
  });

  it('is no reader of a gap when all that came since is there', async () => {
    const key = await api.keyOf('complete', ['read']);
    const reader = await readNotifications(api, { key });
    const seen = (await publish('complete', 'one')) ?? '';
    await publish('complete', 'two');
    await reader.waitFor({ scheduleId: 'two' });
    await reader.leave();
    const again = await readNotifications(api, { key, lastEventId: seen });
    await again.waitFor({ scheduleId: 'two' });
    expect(again.events.map(({ event }) => event)).toEqual(['open', 'notification']);
    await again.leave();
  });
});

describe('a quiet stream', () => {
  it('sends comments, and with them where to continue after entries that the reader does not want', async () => {
    const key = await api.keyOf('quiet', ['read']);
    const reader = await readNotifications(api, { key });
    await waitFor(() => reader.text().split(/^: heartbeat$/m).length > 3, { deadlineMs: 5000, what: 'three comments' });
    await submit('quiet', 3);
    const [[newest] = ['']] = await api.parts.redis.xrevrange(eventsKey('quiet'), '+', '-', 'COUNT', 1);
    await waitFor(() => reader.lastEventId() === newest, { deadlineMs: 5000, what: 'the position after the tasks' });
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
    const first = (await publish(tenant, 'first')) ?? '';
    for (let count = 0; count < 200; count += 1) await publish(tenant, `${count}`, 'x'.repeat(65_536));
    const stuck = connect(Number(new URL(small.url).port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void stuck.destroy());
    stuck.pause();
    stuck.write(`GET /v1/notifications/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nLast-Event-ID: ${first}\r\n\r\n`);
    // Its answer has begun, so the only place is taken.
    await once(stuck, 'readable');
    const reader = await waitFor(() => readNotifications(small, { key, lastEventId: first }).catch(() => null), {
      deadlineMs: 30_000,
      what: 'the place to be free',
    });
    await reader.waitFor({ scheduleId: '199' });
    expect(reader.received().map(({ scheduleId }) => scheduleId)).toEqual(Array.from({ length: 200 }, (_, count) => `${count}`));
    await reader.leave();
    // 13 MB go through it, on a machine that runs other tests.
  }, 60_000);
});
