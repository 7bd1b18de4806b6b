import { describe, expect, it } from 'vitest';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { readEvents, type EventReader } from '../support/read-events.ts';
import { startApi } from '../support/start-api.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const redis = await useRedis();
const api = closeAfterTests(await startApi(redis.url, { http: { maxStreams: 3 } }));
const drive = driveTasks(api.parts);

interface ReadOptions {
  lastEventId?: string;
  query?: string;
  /** Of the API that is asked. */
  url?: string;
}

const read = (id: string, { lastEventId, query = '', url = api.url }: ReadOptions = {}): Promise<EventReader> =>
  readEvents(`${url}/v1/tasks/${id}/stream${query}`, { key: api.key, lastEventId });

const sent = ({ events }: EventReader): unknown[] => events.map(({ event, data }) => [event, JSON.parse(data)]);

async function submit(): Promise<string> {
  return (await api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'hello' } })).body.id;
}

describe('the stream of a task', () => {
  it('tells status and output as they come, and ends with the task', async () => {
    const id = await submit();
    const reader = await read(id);
    await waitFor(() => reader.events.length === 1, { deadlineMs: 3000, what: 'the first status' });
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'one ');
    // Well within the two seconds between two looks: the hints carry it.
    await waitFor(() => reader.events.some(({ data }) => data.includes('one ')), { deadlineMs: 1900, what: 'the first words' });
    await drive.write(attempt, 1, 2, 'two\n');
    await drive.end(attempt, 'one two\n');
    await reader.ended;
    expect(sent(reader)).toEqual([
      ['status', { status: 'queued' }],
      ['status', { status: 'running' }],
      ['output', { attempt: 1, seq: 1, text: 'one ' }],
      ['output', { attempt: 1, seq: 2, text: 'two\n' }],
      ['status', { status: 'completed' }],
      ['end', { status: 'completed' }],
    ]);
  });

  it('tells a second attempt’s output apart from the first’s', async () => {
    const id = await submit();
    const first = await drive.start(id);
    await drive.write(first, 1, 1, 'half');
    const { settleAttempt } = await import('#shared/ledger/settle/settle-attempt.ts');
    const error = { code: 'NETWORK_ERROR', message: 'cut', retryable: true };
    await settleAttempt(api.parts.ledger, first, { kind: 'failed', error, delayMs: 0, usage: null });
    const second = await drive.start(id);
    await drive.write(second, 2, 1, 'whole');
    await drive.end(second, 'whole');
    const reader = await read(id);
    await reader.ended;
    expect(sent(reader).slice(0, 2)).toEqual([
      ['output', { attempt: 1, seq: 1, text: 'half' }],
      ['output', { attempt: 2, seq: 1, text: 'whole' }],
    ]);
  });

  it('resumes after the last event that the reader saw, also when the task has ended meanwhile', async () => {
    const id = await submit();
    const attempt = await drive.start(id);
    for (let seq = 1; seq <= 450; seq += 1) await drive.write(attempt, 1, seq, `${seq} `);
    const reader = await read(id);
    await waitFor(() => reader.events.length === 451, { deadlineMs: 3000, what: 'all words' });
    await reader.leave();
    await drive.end(attempt, 'all');
    const lastId = reader.events[440]?.id ?? '';
    expect(lastId).toMatch(/^\d+-\d+$/);
    for (const resumed of [await read(id, { lastEventId: lastId }), await read(id, { query: `?lastEventId=${lastId}` })]) {
      await resumed.ended;
      expect(sent(resumed).map(([event]: any) => event)).toEqual([...Array.from({ length: 10 }, () => 'output'), 'status', 'end']); // oxlint-disable-line typescript/no-explicit-any
      expect(sent(resumed)[0]).toEqual(['output', { attempt: 1, seq: 441, text: '441 ' }]);
    }
    const last = reader.events.at(-1)?.id ?? '';
    const again = await read(id, { lastEventId: last });
    await again.ended;
    expect(sent(again)).toEqual([
      ['status', { status: 'completed' }],
      ['end', { status: 'completed' }],
    ]);
  });

  it('tells the whole output at once when its entries are gone', async () => {
    const id = await submit();
    await drive.complete(id, 'all of it');
    const reader = await read(id);
    await reader.ended;
    expect(sent(reader)[0]).toEqual(['output', { attempt: 1, seq: 0, text: 'all of it' }]);
  });

  it('refuses an id that is none, and more streams than it may have open', async () => {
    const id = await submit();
    // The last three are none of Redis': a stream that began and then broke would be requested again and again with the same id.
    const largest = '18446744073709551615';
    for (const wrong of ['abc', '1-0 + 2', '$', '99999999999999999999-1', '1-18446744073709551616', `${largest}-${largest}`]) {
      expect((await api.call('GET', `/v1/tasks/${id}/stream`, { headers: { 'last-event-id': wrong } })).status).toBe(422);
    }
    const open = [await read(id), await read(id), await read(id)];
    const refused = await api.call('GET', `/v1/tasks/${id}/stream`);
    expect([refused.status, refused.body.code]).toEqual([429, 'limit.streams']);
    await Promise.all(open.map((reader) => reader.leave()));
  });

  it('leaves streams to others, whatever one visitor, one key or one tenant opens', async () => {
    const shares = { maxStreams: 20, maxStreamsPerVisitor: 1, maxStreamsPerKey: 2, maxStreamsPerTenant: 3 };
    const shared = await startApi(redis.url, { http: shares });
    const id = await submit();
    const open = async (key: string, path = `/v1/tasks/${id}/stream`): Promise<unknown> => {
      const response = await fetch(`${shared.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
      if (response.status !== 200) return ((await response.json()) as { code: string; detail: string }).detail;
      return 200;
    };
    const { token } = (await shared.call('POST', '/v1/sessions/shares/visitors', { body: {} })).body;
    const visit = '/v1/sessions/shares/stream';
    expect([await open(token, visit), await open(token, visit)]).toEqual([200, expect.stringContaining("This visitor's token has 1")]);
    const other = await shared.keyOf('default', ['read']);
    expect([await open(shared.key), await open(shared.key)]).toEqual([200, 200]);
    expect(await open(shared.key)).toContain('This key has 2 event streams');
    expect(await open(other)).toContain('Tenant default has 3 event streams');
    expect(await open(await shared.keyOf('acme', ['read']), '/v1/notifications/stream')).toBe(200);
    await shared.close();
  });

  it('ends when the server closes, and the reader can come back elsewhere', async () => {
    const other = await startApi(redis.url);
    const id = await submit();
    const reader = await read(id, { url: other.url });
    await waitFor(() => reader.events.length === 1, { deadlineMs: 3000, what: 'the first status' });
    await other.close();
    // One that was cut after the grace would reject.
    await reader.ended;
    expect(sent(reader)).toEqual([['status', { status: 'queued' }]]);
  });
});
