import { expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { listenForSignals } from '#shared/execution/leases/signal-listener.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const redis = await useRedis();
const parts = closeAfterTests(await openTestParts({ redisUrl: redis.url, settings: { agents: { echo: { kind: 'echo' } } } }));

it('receives the offer of a message to a running task, and its stop, by the member of its lease', async () => {
  const received: string[] = [];
  const listener = listenForSignals({
    parts,
    onStop: (member) => received.push(`stop ${member}`),
    onInput: (member) => received.push(`input ${member}`),
  });
  const send = async (input: string): Promise<string> =>
    (await acceptTask(parts, { tenant: 'default', agent: 'echo', input, session: 's', mode: 'steer' })).id;
  const id = await send('first');
  await driveTasks(parts).start(id);
  await waitFor(hasListener, { deadlineMs: 5000, what: 'the listener' });
  await send('second');
  await cancelTask(parts.ledger, { tenant: 'default', id, lane: 'session:s' }, 'enough');
  await waitFor(() => received.length === 2, { deadlineMs: 5000, what: 'both signals' });
  expect(received).toEqual([`input default/${id}/1`, `stop default/${id}/1`]);
  listener.close();
});

/** Whether somebody listens to the channel of signals. */
async function hasListener(): Promise<boolean> {
  const channels = await parts.redis.call('PUBSUB', 'CHANNELS', '*:stop');
  return Array.isArray(channels) && channels.length === 1;
}
