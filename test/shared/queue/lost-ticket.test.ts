import { afterAll, describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings.ts';
import { acceptTask } from '#shared/queue/accept-task.ts';
import { TicketWorker, type TicketEnd } from '#shared/queue/ticket-worker.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { useRedis } from '../../support/use-redis.ts';

const connections: RedisClient[] = [];
const workers: TicketWorker[] = [];

const settings = { agents: { echo: { kind: 'echo' } }, worker: { leaseMs: 1000 } } as const;

const redis = await useRedis();
const parts = closeAfterTests(await openTestParts({ redisUrl: redis.url, settings }));
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop(100)));
  for (const connection of connections) connection.disconnect();
});

function takeTickets(handle: (task: string) => Promise<TicketEnd>): RedisClient {
  const connection = connectRedis({ url: redis.url, name: 'test', log: parts.log, role: 'blocking' });
  const worker = new TicketWorker({
    queue: 'tasks',
    slots: 1,
    settings: settingsSchema.parse(settings),
    connection,
    prefix: parts.keys.shard(0).queues,
    handle: ({ task }) => handle(task),
    onReturned: () => Promise.resolve(),
    log: parts.log,
  });
  connections.push(connection);
  workers.push(worker);
  worker.start();
  return connection;
}

describe('a ticket', () => {
  it('that a worker took and died before it claimed the task comes back within about the lease that is configured', async () => {
    let taken = '';
    const connection = takeTickets((task) => {
      taken = task;
      return new Promise(() => undefined);
    });
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'hello' });
    await waitFor(() => taken === id, { deadlineMs: 5000, what: 'the ticket to be taken' });
    // From here on nobody renews its lock, as after a kill.
    connection.disconnect();
    const again = new Promise<string>((resolve) => {
      takeTickets((task) => {
        resolve(task);
        return Promise.resolve({ kind: 'done', note: 'seen' });
      });
    });
    const late = waitFor(() => false, { deadlineMs: 6000, what: 'the ticket to come back' });
    expect(await Promise.race([again, late])).toBe(id);
    late.catch(() => undefined);
  });
});
