import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createKey } from '#shared/tenants/key-store.ts';
import { readTenantEvents } from '#shared/events/tenant-events.ts';
import { changeDaemon, removeDaemon, rotateDaemonToken } from '#shared/daemons/daemon-store.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const parts = await useParts({
  agents: { echo: { kind: 'echo' }, coder: { kind: 'daemon' } },
  hub: { resendMs: 100, sweepMs: 200 },
});
const hub = await startHub(parts);
afterAll(() => hub.stop());

const daemons: RawDaemon[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0)) {
    daemon.vanish();
    await daemon.closed();
  }
});

async function connect(
  tenant: string,
  hello: Parameters<typeof RawDaemon.welcomed>[2] = {},
): Promise<{ daemon: RawDaemon; id: string; token: string }> {
  const { id, token } = await registerDaemon(parts, { tenant });
  const daemon = await RawDaemon.welcomed(hub.url, token, hello);
  daemons.push(daemon);
  return { daemon, id, token };
}

const accept = async (tenant: string, request: Partial<Parameters<typeof acceptTask>[1]> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant, agent: 'coder', input: 'write it', ...request })).id;

const kindsOf = async (tenant: string): Promise<string[]> => {
  const { entries } = await readTenantEvents(parts, tenant, { entry: '0-0', isPart: false }, 1000);
  return entries.map(({ event, fields }) => `${event} ${fields['about'] ?? ''}`).filter((text) => text.startsWith('daemon.'));
};

describe('a daemon of another tenant', () => {
  it('gets no task, whatever it declares, and is no target', async () => {
    const { daemon, id } = await connect('acme', { capabilities: ['gpu'], slots: 5 });
    const any = await accept('mine', { requirements: { capabilities: ['gpu'] } });
    const named = await accept('mine', { requirements: { targetDaemon: id } });
    const ended = await waitFor(
      async () => {
        const task = await readTask(parts.ledger, 'mine', named);
        return task?.state.status === 'permanently_failed' ? task : null;
      },
      { deadlineMs: 10_000, what: 'the task without its target to fail' },
    );
    expect(ended.state.error?.code).toBe('DAEMON_NOT_FOUND');
    // The one after it, in the same queue, was held meanwhile.
    const own = await connect('mine', { capabilities: ['gpu'] });
    expect(await own.daemon.accept()).toMatchObject({ taskId: any });
    expect(daemon.received.filter(({ type }) => type === 'task.execute')).toEqual([]);
  });

  it('can neither adopt an attempt nor end it, and learns of it what it learns of none', async () => {
    const own = await connect('mine');
    const taskId = await accept('mine');
    const { token } = await own.daemon.accept();
    const claims = [
      { taskId, token },
      { taskId: 'nowhere', token },
    ];
    const { token: secret } = await registerDaemon(parts, { tenant: 'acme' });
    const other = await RawDaemon.connect(hub.url, secret);
    daemons.push(other);
    other.hello({ running: claims, finished: claims });
    expect(await other.next('hub.welcome')).toMatchObject({ keep: [], drop: [taskId, 'nowhere'], resume: [] });
    for (const name of claims) {
      other.send({ type: 'task.output', ...name, seq: 1, text: 'not mine' });
      other.send({ type: 'task.completed', ...name, output: 'not mine' });
      expect(await other.next('task.acknowledged')).toEqual({ type: 'task.acknowledged', ...name, outcome: 'refused' });
    }
    own.daemon.send({ type: 'task.completed', taskId, token, output: 'mine' });
    expect(await own.daemon.next('task.acknowledged')).toMatchObject({ outcome: 'kept' });
    expect(await readTask(parts.ledger, 'mine', taskId)).toMatchObject({
      output: 'mine',
      state: { status: 'completed' },
      attempts: [{ status: 'success' }],
    });
  });
});

describe('a user’s own daemon', () => {
  it('gets the tasks of nobody else', async () => {
    const { id, token } = await registerDaemon(parts, { tenant: 'mine', user: 'ada' });
    const daemon = await RawDaemon.welcomed(hub.url, token);
    daemons.push(daemon);
    await accept('mine', { requirements: { targetDaemon: id } });
    const everyones = await connect('mine');
    const free = await accept('mine');
    expect(await everyones.daemon.accept()).toMatchObject({ taskId: free });
    expect(daemon.received.filter(({ type }) => type === 'task.execute')).toEqual([]);
  });

  it('gets no task of somebody who only says to be that user', async () => {
    const { id, token } = await registerDaemon(parts, { tenant: 'named', user: 'bob' });
    const daemon = await RawDaemon.welcomed(hub.url, token);
    daemons.push(daemon);
    const requirements = { targetDaemon: id };
    await accept('named', { requirements, user: 'bob', isUserClaimed: true });
    const known = await accept('named', { requirements, user: 'bob' });
    expect(await daemon.accept()).toMatchObject({ taskId: known });
  });
});

describe('a token', () => {
  it('of an API key, or none, opens no connection', async () => {
    const { secret } = await createKey(parts, { tenant: 'mine', name: 'k', scopes: ['admin'] });
    for (const token of [secret, 'md_x', `md_${'a'.repeat(43)}`]) await expect(RawDaemon.connect(hub.url, token)).rejects.toThrow('401');
  });

  it.each([
    ['rotated', async (address: { tenant: string; id: string }) => void (await rotateDaemonToken(parts, address))],
    [
      'of a disabled daemon',
      async (address: { tenant: string; id: string }) => void (await changeDaemon(parts, address, { enabled: false })),
    ],
    ['of a removed daemon', async (address: { tenant: string; id: string }) => void (await removeDaemon(parts, address))],
  ])('that is %s ends its connection with 4401, and no other, and is refused', async (_what, end) => {
    const gone = await connect('mine');
    const other = await connect('mine');
    await end({ tenant: 'mine', id: gone.id });
    expect(await gone.daemon.closed()).toBe(4401);
    await expect(RawDaemon.connect(hub.url, gone.token)).rejects.toThrow('401');
    expect(other.daemon.closeCode).toBeNull();
  });
});

it('a tenant is notified when its daemon connects and when it is gone, and not when it connects anew', async () => {
  const { daemon, id, token } = await connect('watched');
  const again = await RawDaemon.welcomed(hub.url, token);
  expect(await daemon.closed()).toBe(4409);
  again.vanish();
  const about = (event: string, kinds: string[]): string[] => kinds.filter((text) => text.startsWith(event) && text.includes(id));
  const kinds = await waitFor(
    async () => {
      const found = await kindsOf('watched');
      return about('daemon.disconnected', found).length > 0 ? found : null;
    },
    { deadlineMs: 5000, what: 'the notification' },
  );
  expect(kinds.map((text) => text.split(' ')[0])).toEqual(['daemon.connected', 'daemon.disconnected']);
  expect(await kindsOf('mine')).not.toContain(id);
});
