import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';

const MAX_BYTES = 20_000;

const parts = await useParts({
  hub: {
    heartbeatMs: 100,
    missedHeartbeats: 2,
    helloMs: 300,
    maxMessageBytes: MAX_BYTES,
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
});
