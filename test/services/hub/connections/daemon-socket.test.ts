import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { describe, expect, it, onTestFinished } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { DaemonSocket } from '../../../../services/hub/connections/daemon-socket.ts';
import { waitFor } from '../../../support/wait-for.ts';

const PER_SECOND = 10;
const MAX_BUFFERED = 100_000;
const { hub: settings } = settingsSchema.parse({ hub: { messagesPerSecond: PER_SECOND, maxBufferedBytes: MAX_BUFFERED } });
const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });

/** The socket below, of which a test sees whether it is read. */
class FakeSocket extends EventEmitter {
  isPaused = false;
  readonly bufferedAmount = 0;
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

it('a connection over its rate is not read until it has credit again, and loses nothing', async () => {
  let now = 0;
  const fake = new FakeSocket();
  const received: string[] = [];
  const clock = { monotonic: () => now };
  const onMessage = ({ type }: { type: string }): number => received.push(type);
  const socket = new DaemonSocket(fake as unknown as WebSocket, { settings, onMessage, onClose: () => undefined, clock, log });
  const beat = Buffer.from('{"type":"daemon.heartbeat"}');
  for (let sent = 0; sent < PER_SECOND; sent += 1) fake.emit('message', beat, false);
  expect(fake.isPaused).toBe(false);
  for (let sent = 0; sent < 2; sent += 1) fake.emit('message', beat, false);
  expect(fake.isPaused).toBe(true);
  expect(received).toHaveLength(PER_SECOND + 2);
  now = 1000;
  await waitFor(() => !fake.isPaused, { deadlineMs: 5000, what: 'the connection to be read again' });
  expect(socket.isOpen).toBe(true);
});

/** The hub's side of a connection over TCP, and the daemon's. */
async function openPair(): Promise<{ socket: DaemonSocket; webSocket: WebSocket; daemon: WebSocket; ends: () => number }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const daemon = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  daemon.on('error', () => undefined);
  onTestFinished(() => {
    daemon.terminate();
    server.close();
  });
  const [[webSocket]] = (await Promise.all([accepted, once(daemon, 'open')])) as [[WebSocket], unknown];
  let ended = 0;
  const clock = { monotonic: () => 0 };
  const socket = new DaemonSocket(webSocket, { settings, onMessage: () => undefined, onClose: () => (ended += 1), clock, log });
  return { socket, webSocket, daemon, ends: () => ended };
}

describe('a daemon that does not read its socket', () => {
  const message = { type: 'error', code: 'message.invalid', message: 'x'.repeat(1_000_000) } as const;
  /** More than the system's buffers of both sides take, which Linux bounds at about 10 MB. */
  const MAX_SENT = 200;

  it('is cut off by the message that finds more than the bound waiting for it', async () => {
    const { socket, webSocket, daemon, ends } = await openPair();
    daemon.pause();
    let waiting = 0;
    for (let sent = 0; sent < MAX_SENT && socket.isOpen; sent += 1) {
      waiting = webSocket.bufferedAmount;
      socket.send(message);
      await setImmediate();
    }
    expect(socket.isOpen).toBe(false);
    expect(waiting).toBeGreaterThan(MAX_BUFFERED);
    expect(ends()).toBe(1);
    daemon.resume();
    await once(daemon, 'close');
  });

  it('is cut off by the next beat while nothing else is sent', async () => {
    const { socket, webSocket, daemon, ends } = await openPair();
    daemon.pause();
    for (let sent = 0; sent < MAX_SENT && webSocket.bufferedAmount <= MAX_BUFFERED; sent += 1) {
      socket.send(message);
      await setImmediate();
    }
    expect(socket.isOpen).toBe(true);
    socket.ping();
    expect(socket.isOpen).toBe(false);
    expect(ends()).toBe(1);
  });

  it('is another one than a daemon that reads, which gets all of it', async () => {
    const { socket, daemon } = await openPair();
    let received = 0;
    daemon.on('message', () => (received += 1));
    for (let sent = 1; sent <= 20; sent += 1) {
      socket.send(message);
      await waitFor(() => received === sent, { deadlineMs: 10_000, what: `message ${sent}` });
      socket.ping();
    }
    expect(socket.isOpen).toBe(true);
  });
});
