import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { createLog } from '#shared/log/create-log.ts';
import { DaemonSocket } from '../../../../services/hub/connections/daemon-socket.ts';
import { waitFor } from '../../../support/wait-for.ts';

const PER_SECOND = 10;
const { hub: settings } = settingsSchema.parse({ hub: { messagesPerSecond: PER_SECOND } });

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
  const log = createLog({ level: 'silent', service: 'test', destination: { write: () => undefined } });
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
