import { expect, it } from 'vitest';
import { startFakeHub } from './fake-hub.ts';
import { RawDaemon } from './raw-daemon.ts';
import { waitFor } from '../wait-for.ts';

it('gives each message to one of several calls at once, also when all have arrived before', async () => {
  const hub = await startFakeHub();
  try {
    const daemon = await RawDaemon.welcomed(`${hub.url}/hub`, 'token');
    const connection = await hub.connection(0);
    const tasks = ['one', 'two', 'three'];
    for (const taskId of tasks) connection.send({ type: 'task.acknowledged', taskId, token: 1, outcome: 'kept' });
    await waitFor(() => daemon.received.length === tasks.length, { deadlineMs: 5000, what: 'all to arrive' });
    const taken = await Promise.all(tasks.map(() => daemon.next('task.acknowledged')));
    expect(taken.map(({ taskId }) => taskId)).toEqual(tasks);
    expect(daemon.received).toEqual([]);
    daemon.vanish();
  } finally {
    await hub.close();
  }
});
