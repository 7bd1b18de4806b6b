import { afterEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { endPause, pauseAgent } from '#shared/ledger/settle/paused-agents.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { parseTimeline } from '#shared/tasks/index.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon } from '../../support/daemons/start-hub.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

/** As many as the attempts that move from one hub to the other. */
const CAP = 3;
/** Longer than the test: nothing comes free because a lease ends. */
const LONG_MS = 120_000;

let fleet: Fleet;
let parts: Parts;
/** `leaseMs`: of a process's attempts. `hub`: other settings of hubs. */
async function open(leaseMs: number, hub: object = {}): Promise<void> {
  const settings = { agents: { coder: { kind: 'daemon' as const } }, limits: { maxConcurrent: CAP }, worker: { leaseMs }, hub };
  fleet = await openFleet({ settings });
  parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
}
afterEach(async () => {
  await parts.close();
  await fleet.stop();
});

it.each(['SIGKILL', 'SIGTERM'] as const)('an attempt goes on at another hub after %s, without a gap and at no cost', async (signal) => {
  await open(LONG_MS);
  const [first, second] = await Promise.all([fleet.start('hub'), fleet.start('hub')]);
  const { token } = await registerDaemon(parts);
  const daemon = await RawDaemon.welcomed(`${first.url}/hub`, token);
  const ids = await Promise.all(
    Array.from({ length: 3 }, async () => (await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it' })).id),
  );
  const attempts = [await daemon.accept(), await daemon.accept(), await daemon.accept()].map(({ taskId, token: attempt }) => ({
    taskId,
    token: attempt,
  }));
  for (const name of attempts) daemon.send({ type: 'task.output', ...name, seq: 1, text: 'before ' });
  await daemon.flushed();
  await first.kill(signal);
  await daemon.closed();
  // Nothing new of the agent starts; what runs already goes on.
  await pauseAgent(parts, { tenant: 'default', agent: 'coder' }, { by: 'a person', at: Date.now(), reason: null });

  const [finished, ...running] = attempts;
  const again = await RawDaemon.connect(`${second.url}/hub`, token);
  again.hello({ running, finished: finished ? [finished] : [] });
  const welcome = await again.next('hub.welcome');
  expect(welcome.drop).toEqual([]);
  expect(welcome.keep.toSorted()).toEqual(ids.toSorted());
  // The attempts fill the fleet as before, so that the daemon gets nothing more in its free slots.
  await endPause(parts.ledger, { tenant: 'default', agent: 'coder' });
  const { id: next } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write more' });
  await waitForFleet(next);
  expect((await readTask(parts.ledger, 'default', next))?.state.status).toBe('queued');
  for (const { seq, ...name } of welcome.resume) {
    // What the dead hub had not stored is sent again.
    if (seq < 1) again.send({ type: 'task.output', ...name, seq: 1, text: 'before ' });
    again.send({ type: 'task.output', ...name, seq: 2, text: 'after' });
    again.send({ type: 'task.completed', ...name });
    expect(await again.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'kept' });
  }
  const last = await again.accept();
  expect(last.taskId).toBe(next);
  again.send({ type: 'task.completed', taskId: next, token: last.token, output: 'more' });
  for (const id of ids) {
    const task = await waitFor(
      async () => {
        const read = await readTask(parts.ledger, 'default', id);
        return read?.state.status === 'completed' ? read : null;
      },
      { deadlineMs: 20_000, what: 'the task to complete' },
    );
    expect(task).toMatchObject({ output: 'before after', state: { token: 1, spent: 1 } });
    expect(task.attempts).toHaveLength(1);
  }
  again.vanish();
});

it.each([true, false])(
  'a task that its daemon had not accepted runs once after SIGKILL, at no cost (it had arrived: %s)',
  async (hasArrived) => {
    // As long as the lease of an attempt stands without its hub.
    await open(2000, { graceMs: 2000 });
    const [first, second] = await Promise.all([fleet.start('hub'), fleet.start('hub'), fleet.start('worker')]);
    const { token } = await registerDaemon(parts);
    const daemon = await RawDaemon.welcomed(`${first.url}/hub`, token);
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it' });
    const sent = await daemon.next('task.execute');
    const name = { taskId: id, token: sent.token };
    await first.kill('SIGKILL');
    await daemon.closed();
    const again = await RawDaemon.welcomed(`${second.url}/hub`, token, { running: hasArrived ? [name] : [] });
    const given = hasArrived ? name : { taskId: id, token: (await again.accept()).token };
    again.send({ type: 'task.completed', ...given, output: 'done' });
    expect(await again.next('task.acknowledged')).toMatchObject({ ...given, outcome: 'kept' });
    const task = await readTask(parts.ledger, 'default', id);
    expect(task).toMatchObject({ output: 'done', state: { status: 'completed', token: hasArrived ? 1 : 2, spent: 1 } });
    const path = parseTimeline(task?.state.log ?? '').map(({ status }) => status);
    const lost = hasArrived ? [] : ['scheduled', 'queued'];
    expect(path).toEqual(['pending', 'queued', ...lost, 'scheduled', 'running', 'completed']);
    again.vanish();
  },
);

it.each(['SIGKILL', 'SIGTERM'] as const)('attempts whose hub ended by %s use their room while their daemon is away', async (signal) => {
  await open(3000);
  const [first, second] = await Promise.all([fleet.start('hub'), fleet.start('hub')]);
  const [{ token }, { token: otherToken }] = [await registerDaemon(parts), await registerDaemon(parts)];
  const daemon = await RawDaemon.welcomed(`${first.url}/hub`, token);
  for (let task = 0; task < CAP; task += 1) await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write it' });
  const attempts = await Promise.all(Array.from({ length: CAP }, async () => await daemon.accept()));
  const running = attempts.map(({ taskId, token: attempt }) => ({ taskId, token: attempt }));
  await daemon.flushed();
  await first.kill(signal);
  await daemon.closed();

  const other = await RawDaemon.welcomed(`${second.url}/hub`, otherToken);
  const { id: next } = await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'write more' });
  await waitForFleet(next);
  expect((await readTask(parts.ledger, 'default', next))?.state.status).toBe('queued');

  const again = await RawDaemon.connect(`${second.url}/hub`, token);
  again.hello({ running, slots: CAP });
  expect((await again.next('hub.welcome')).drop).toEqual([]);
  for (const name of running) again.send({ type: 'task.completed', ...name, output: 'done' });
  await waitFor(async () => (await readTask(parts.ledger, 'default', next))?.state.status === 'scheduled', {
    deadlineMs: 20_000,
    what: 'the next task to be sent',
  });
  other.vanish();
  again.vanish();
});

/** Resolves once a task waits for the fleet's cap. */
async function waitForFleet(id: string): Promise<void> {
  const gateOf = async (): Promise<string | undefined> => {
    const task = await readTask(parts.ledger, 'default', id);
    return task ? (await explainWait(parts, task)).reasons[0]?.gate : undefined;
  };
  await waitFor(async () => (await gateOf()) === 'fleet', { deadlineMs: 20_000, what: 'the task to wait for the fleet' });
}
