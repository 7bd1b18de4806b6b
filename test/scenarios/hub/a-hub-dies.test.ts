import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon } from '../../support/daemons/start-hub.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const settings = { agents: { coder: { kind: 'daemon' as const } } };

let fleet: Fleet;
let parts: Parts;
beforeEach(async () => {
  fleet = await openFleet({ settings });
  parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
});
afterEach(async () => {
  await parts.close();
  await fleet.stop();
});

it.each(['SIGKILL', 'SIGTERM'] as const)('an attempt goes on at another hub after %s, without a gap and at no cost', async (signal) => {
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

  const [finished, ...running] = attempts;
  const again = await RawDaemon.connect(`${second.url}/hub`, token);
  again.hello({ running, finished: finished ? [finished] : [] });
  const welcome = await again.next('hub.welcome');
  expect(welcome.drop).toEqual([]);
  expect(welcome.keep.toSorted()).toEqual(ids.toSorted());
  for (const { seq, ...name } of welcome.resume) {
    // What the dead hub had not stored is sent again.
    if (seq < 1) again.send({ type: 'task.output', ...name, seq: 1, text: 'before ' });
    again.send({ type: 'task.output', ...name, seq: 2, text: 'after' });
    again.send({ type: 'task.completed', ...name });
    expect(await again.next('task.acknowledged')).toMatchObject({ ...name, outcome: 'kept' });
  }
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
