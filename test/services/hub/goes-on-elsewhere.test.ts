import { afterAll, expect, it } from 'vitest';
import { changeDaemon, removeDaemon } from '#shared/daemons/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';

const parts = await useParts({
  agents: { coder: { kind: 'daemon' } },
  // Nothing goes on elsewhere because of the grace.
  hub: { resendMs: 100, sweepMs: 200, graceMs: 60_000, acceptMs: 500 },
});
await useWorker(parts);
const hub = await startHub(parts);
afterAll(() => hub.stop());

const capabilities = ['code'];

/** The only daemon of a tenant, which has the task next, and how another one ends it. */
async function useTask(tenant: string): Promise<{ id: string; daemonId: string; daemon: RawDaemon; endsElsewhere: () => Promise<void> }> {
  const { id: daemonId, token } = await registerDaemon(parts, { tenant });
  const daemon = await RawDaemon.welcomed(hub.url, token, { capabilities });
  daemon.send({ type: 'daemon.heartbeat', load: 0 });
  const { id } = await acceptTask(parts, { tenant, agent: 'coder', input: 'write it', requirements: { capabilities } });
  const endsElsewhere = async (): Promise<void> => {
    const second = await RawDaemon.welcomed(hub.url, (await registerDaemon(parts, { tenant })).token, { capabilities });
    const { token: fencing } = await second.accept();
    second.send({ type: 'task.completed', taskId: id, token: fencing, output: 'done' });
    const { state, attempts } = await awaitEnd(parts, id, tenant);
    expect(state).toMatchObject({ status: 'completed' });
    // Neither was the task's fault.
    expect(attempts.map(({ status }) => status)).toEqual(['failed', 'success']);
    for (const each of [daemon, second]) each.vanish();
  };
  return { id, daemonId, daemon, endsElsewhere };
}

it('a task that its daemon does not accept goes on at another one after hub.acceptMs, although the daemon beats', async () => {
  const { daemon, endsElsewhere } = await useTask('unaccepted');
  await daemon.next('task.execute');
  const beats = setInterval(() => daemon.send({ type: 'daemon.heartbeat', load: 0 }), 50);
  expect(await daemon.next('task.cancel')).toMatchObject({ reason: 'it was not accepted in time' });
  await endsElsewhere();
  clearInterval(beats);
});

it.each([
  ['is disabled', (address: { tenant: string; id: string }) => changeDaemon(parts, address, { enabled: false })],
  ['is removed', (address: { tenant: string; id: string }) => removeDaemon(parts, address)],
])('a task of a daemon that %s goes on at another one at once', async (how, end) => {
  const tenant = how.replaceAll(' ', '-');
  const { daemonId, daemon, endsElsewhere } = await useTask(tenant);
  await daemon.accept();
  await daemon.flushed();
  await end({ tenant, id: daemonId });
  expect(await daemon.closed()).toBe(4401);
  await endsElsewhere();
});
