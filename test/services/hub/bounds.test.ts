import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readDaemonStates } from '#shared/daemons/daemon-states.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const MAX_BYTES = 20_000;
const MAX_REFUSED = 4;
const MAX_BEFORE_HELLO = 3;
const MAX_CONNECTS = 8;

const parts = await useParts({
  agents: { coder: { kind: 'daemon' } },
  limits: { httpAnonymousPerMinute: MAX_REFUSED },
  hub: {
    heartbeatMs: 100,
    missedHeartbeats: 2,
    helloMs: 1000,
    maxMessageBytes: MAX_BYTES,
    resendMs: 50,
    maxConnectionsBeforeHello: MAX_BEFORE_HELLO,
    connectsPerMinute: MAX_CONNECTS,
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

describe('one address or daemon', () => {
  it('has a bounded number of connections without a hello, of which the oldest is closed', async () => {
    const { token } = await registerDaemon(parts);
    const others = await connect();
    const daemons: RawDaemon[] = [];
    for (let count = 0; count <= MAX_BEFORE_HELLO; count += 1) daemons.push(await RawDaemon.connect(hub.url, token));
    open.push(...daemons);
    const [oldest, ...rest] = daemons;
    await waitFor(() => oldest?.closeReason !== null, { deadlineMs: 10_000, what: 'the oldest connection to be closed' });
    expect([oldest?.closeCode, oldest?.closeReason]).toEqual([4408, 'too many connections without a hello']);
    rest.at(-1)?.hello();
    await rest.at(-1)?.next('hub.welcome');
    others.hello();
    await others.next('hub.welcome');
  });

  it('is refused with 429 after too many wrong tokens in a minute, unless its token is right', async () => {
    const wrong: string[] = [];
    for (let count = 0; count <= MAX_REFUSED; count += 1) {
      await RawDaemon.connect(hub.url, `md_${'x'.repeat(43)}`).catch((error: Error) => wrong.push(error.message));
    }
    expect(wrong).toEqual([...Array.from({ length: MAX_REFUSED }, () => '401'), '429']);
    await welcomed();
  });
});

it('a daemon that connects again and again is refused, and no other one', async () => {
  const { token } = await registerDaemon(parts);
  for (let count = 0; count < MAX_CONNECTS; count += 1) open.push(await RawDaemon.connect(hub.url, token));
  await expect(RawDaemon.connect(hub.url, token)).rejects.toThrow('429');
  expect((await connect()).closeCode).toBeNull();
});
