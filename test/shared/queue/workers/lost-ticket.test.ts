import { afterAll, describe, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { openJobSource, type JobSource } from '#shared/queue/consumer/job-source.ts';
import { TicketWorker, type TicketResult } from '#shared/queue/workers/ticket-worker.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';

const sources: JobSource[] = [];
const workers: TicketWorker[] = [];

const settings = { agents: { echo: { kind: 'echo' } }, worker: { leaseMs: 1000 } } as const;

const redis = await useRedis();
const parts = closeAfterTests(await openTestParts({ redisUrl: redis.url, settings }));
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop(100)));
  for (const source of sources) source.close();
});

function takeTickets(handle: (task: string) => Promise<TicketResult>): RedisClient {
  const source = openJobSource(parts, 'test');
  const worker = new TicketWorker({
    source,
    shard: 0,
    queue: 'tasks',
    slots: 1,
    handle: ({ task }) => handle(task),
    onReturned: () => Promise.resolve(),
  });
  sources.push(source);
  workers.push(worker);
  worker.start();
  return source.connection;
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
    // From here on its lock is not renewed, as after a kill.
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
