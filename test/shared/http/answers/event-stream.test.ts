import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { sendEvents, type EventStream } from '#shared/http/answers/event-stream.ts';
import type { OpenPlace } from '#shared/http/answers/open-answer.ts';
import { OpenStreams } from '#shared/http/server-load.ts';
import { sendProblem } from '#shared/http/answers/problems.ts';
import { serveApp } from '../../../support/serve-app.ts';
import { waitFor } from '../../../support/wait-for.ts';

async function serve(streams: OpenStreams, write: (stream: EventStream) => Promise<void>, place: Partial<OpenPlace> = {}): Promise<string> {
  const app = express();
  app.get('/', async (request, response) => {
    await sendEvents(request, response, { streams, ...place }, write).catch((error: unknown) => sendProblem(response, error));
  });
  const served = await serveApp(app);
  onTestFinished(() => served.close());
  return served.url;
}

const untilGone = (stream: EventStream): Promise<void> =>
  new Promise((resolve) => {
    stream.signal.addEventListener('abort', () => resolve());
  });

describe('a stream of events', () => {
  it('writes events with and without ids, and ends when it is done', async () => {
    const url = await serve(new OpenStreams(1), async (stream) => {
      await stream.send('output', { text: 'line one\nline two' }, '1-0');
      await stream.send('status', { status: 'running' });
    });
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toBe(
      'retry: 2000\n\nevent: output\nid: 1-0\ndata: {"text":"line one\\nline two"}\n\nevent: status\ndata: {"status":"running"}\n\n',
    );
  });

  it('does not begin for a reader that left before it did', async () => {
    const streams = new OpenStreams(1);
    const events: string[] = [];
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    const app = express().get('/', async (request, response) => {
      events.push('came');
      await once(response, 'close');
      void sendEvents(request, response, { streams }, (stream) => {
        events.push('began');
        return untilGone(stream);
      });
      resolve();
    });
    const served = await serveApp(app);
    onTestFinished(() => served.close());
    const reader = connect(Number(new URL(served.url).port), '127.0.0.1');
    reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await waitFor(() => events.length > 0, { deadlineMs: 5000, what: 'the request' });
    reader.destroy();
    await isOver;
    expect([events, streams.count]).toEqual([['came'], 0]);
  });

  it('is over at once for who asks for its headers only', async () => {
    const streams = new OpenStreams(1);
    const url = await serve(streams, untilGone);
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(streams.count).toBe(0);
  });

  it('knows what the reader saw last, by header or query', async () => {
    const seen: (string | null)[] = [];
    const url = await serve(new OpenStreams(5), (stream) => {
      seen.push(stream.lastEventId);
      return Promise.resolve();
    });
    await fetch(url);
    await fetch(`${url}/?lastEventId=2-0`);
    await fetch(`${url}/?lastEventId=2-0`, { headers: { 'last-event-id': '3-0' } });
    expect(seen).toEqual([null, '2-0', '3-0']);
    expect((await fetch(`${url}/?lastEventId=a&lastEventId=b`)).status).toBe(422);
  });

  it('says a comment while nothing happens', async () => {
    const url = await serve(new OpenStreams(1, { keepAliveMs: 10 }), untilGone);
    const response = await fetch(url);
    const text = await readUntil(response, ': heartbeat\n\n: heartbeat\n\n');
    expect(text).toContain('retry: 2000');
  });

  it('says none of its own where its writer does', async () => {
    const url = await serve(
      new OpenStreams(1, { keepAliveMs: 10 }),
      async (stream) => {
        await wait(100);
        stream.comment('1-0');
      },
      { hasOwnComments: true },
    );
    expect(await (await fetch(url)).text()).toBe('retry: 2000\n\n: heartbeat\nid: 1-0\n\n');
  });

  it('lets its writer say a comment, and with it where the reader goes on', async () => {
    const url = await serve(new OpenStreams(1), (stream) => {
      stream.comment();
      stream.comment('7-0');
      return Promise.resolve();
    });
    expect(await (await fetch(url)).text()).toBe('retry: 2000\n\n: heartbeat\n\n: heartbeat\nid: 7-0\n\n');
  });

  it('is refused with 429 when too many are open, and let in when one has gone', async () => {
    const streams = new OpenStreams(1);
    const url = await serve(streams, untilGone);
    const stop = new AbortController();
    await fetch(url, { signal: stop.signal });
    const refused = await fetch(url);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([429, 'limit.streams']);
    expect(refused.headers.get('retry-after')).toBe('5');
    stop.abort();
    await waitFor(() => streams.count === 0, { deadlineMs: 2000, what: 'the place to be free' });
    const next = new AbortController();
    expect((await fetch(url, { signal: next.signal })).status).toBe(200);
    next.abort();
  });

  it('ends when the server closes, and none begins then', async () => {
    const streams = new OpenStreams(5);
    const url = await serve(streams, untilGone);
    const response = await fetch(url);
    streams.close();
    expect(await response.text()).toContain('retry');
    expect((await fetch(url)).status).toBe(503);
  });

  it('ends once its reader may stay no longer, and not while that cannot be found out', async () => {
    let answer: Promise<boolean> | null = Promise.resolve(true);
    let asked = 0;
    const mayStay = (): Promise<boolean> => {
      asked += 1;
      return answer ?? Promise.reject(new Error('Redis is away'));
    };
    const streams = new OpenStreams(1, { checkMs: 5 });
    const url = await serve(streams, untilGone, { mayStay });
    const response = await fetch(url);
    await waitFor(() => asked > 2, { deadlineMs: 2000, what: 'looks that say yes' });
    answer = null;
    const before = asked;
    await waitFor(() => asked > before + 2, { deadlineMs: 2000, what: 'looks that fail' });
    expect(streams.count).toBe(1);
    answer = Promise.resolve(false);
    expect(await response.text()).toBe('retry: 2000\n\n');
    expect(streams.count).toBe(0);
  });

  it('cuts off a reader who reads nothing, without keeping all of it in memory', async () => {
    const streams = new OpenStreams(1, { slowReaderMs: 200 });
    let sent = 0;
    const url = await serve(streams, async (stream) => {
      while (!stream.signal.aborted) {
        await stream.send('output', 'x'.repeat(65_536));
        sent += 1;
      }
    });
    const reader = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    reader.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    reader.pause();
    await waitFor(() => streams.count === 1, { deadlineMs: 2000, what: 'the stream to open' });
    await waitFor(() => streams.count === 0, { deadlineMs: 5000, what: 'the slow reader to be cut off' });
    // What the system's own buffers took, and no more.
    expect(sent).toBeLessThan(500);
    reader.destroy();
  });

  it('waits for a reader who is slow but reads', async () => {
    const url = await serve(new OpenStreams(1), async (stream) => {
      for (let index = 0; index < 200; index += 1) await stream.send('output', 'x'.repeat(65_536));
      await stream.send('end', {});
    });
    const response = await fetch(url);
    const text = await response.text();
    expect(text.length).toBeGreaterThan(200 * 65_536);
    expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true);
  });
});

async function readUntil(response: Response, wanted: string): Promise<string> {
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.includes(wanted)) break;
  }
  return text;
}
