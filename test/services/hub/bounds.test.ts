import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readDaemonStates } from '#shared/daemons/daemon-states.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const MAX_BYTES = 20_000;

const parts = await useParts({
  agents: { coder: { kind: 'daemon' } },
  hub: {
    heartbeatMs: 100,
    missedHeartbeats: 2,
    helloMs: 300,
    maxMessageBytes: MAX_BYTES,
    resendMs: 50,
    maxBufferedBytes: 100_000,
  },
});
const hub = await startHub(parts);
afterAll(() => hub.stop());

const open: RawDaemon[] = [];
const beating: NodeJS.Timeout[] = [];
afterEach(() => {
  for (const timer of beating.splice(0)) clearInterval(timer);
  for (const daemon of open.splice(0)) daemon.vanish();
});

async function connect(): Promise<RawDaemon> {
  const { token } = await registerDaemon(parts);
  const daemon = await RawDaemon.connect(hub.url, token);
  open.push(daemon);
  return daemon;
}

async function welcomed(): Promise<RawDaemon> {
  const daemon = await connect();
  daemon.hello();
  await daemon.next('hub.welcome');
  beating.push(setInterval(() => daemon.send({ type: 'daemon.heartbeat', load: 0 }), 50));
  return daemon;
}

describe('a connection', () => {
  it('ends with 4408 without a hello', async () => {
    const daemon = await connect();
    expect(await daemon.closed()).toBe(4408);
  });

  it('ends with 4408 without heartbeats', async () => {
    const daemon = await connect();
    daemon.hello();
    await daemon.next('hub.welcome');
    expect(await daemon.closed()).toBe(4408);
  });

  it('ends with 1009 by a message over the bound', async () => {
    const daemon = await welcomed();
    daemon.socket.send('x'.repeat(MAX_BYTES + 1));
    expect(await daemon.closed()).toBe(1009);
  });

  it('ends with 1008 when the daemon speaks another protocol', async () => {
    const daemon = await connect();
    daemon.hello({ protocol: 2 });
    expect(await daemon.next('error')).toMatchObject({ code: 'message.unknown-protocol' });
    expect(await daemon.closed()).toBe(1008);
  });

  it.each([
    ['message.not-json', '{'],
    ['message.unknown-type', '{"type":"task.execute"}'],
    ['message.invalid', '{"type":"task.output","taskId":"a"}'],
    ['message.second-hello', '{"type":"daemon.hello","protocol":1,"name":"raw","slots":1}'],
  ])('goes on after %s, of which the daemon learns', async (code, frame) => {
    const daemon = await welcomed();
    daemon.socket.send(frame);
    expect(await daemon.next('error')).toMatchObject({ code });
    daemon.socket.send(Buffer.from('binary'));
    expect(await daemon.next('error')).toMatchObject({ code: 'message.not-json' });
    expect(daemon.closeCode).toBeNull();
  });

  it('has to begin with a hello', async () => {
    const daemon = await connect();
    daemon.send({ type: 'daemon.heartbeat', load: 0 });
    expect(await daemon.next('error')).toMatchObject({ code: 'message.no-hello' });
  });

  it('is cut when the daemon beats but does not read what is sent to it', async () => {
    const daemon = await welcomed();
    daemon.socket.pause();
    // They are sent again until they are accepted, so that they outgrow the system's buffers.
    const input = 'x'.repeat(200_000);
    for (let count = 0; count < 5; count += 1) await acceptTask(parts, { tenant: 'default', agent: 'coder', input });
    await waitFor(async () => (await readDaemonStates(parts)).length === 0, { deadlineMs: 60_000, what: 'the connection to be cut' });
    expect(daemon.closeCode).toBeNull();
    daemon.socket.resume();
    expect(await daemon.closed()).toBe(1006);
  });
});
