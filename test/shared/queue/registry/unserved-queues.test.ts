import { describe, expect, it } from 'vitest';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { explainUnserved, findUnservedQueues, listUnservedQueues, type QueueNotice } from '#shared/queue/registry/unserved-queues.ts';
import { beat, type WorkerRecord } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const GRACE_MS = 20_000;
const REPORT = workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, running: 0, slots: 8, queues: ['tasks'] });

const parts = await useEmptyParts();
const { redis, keys, queues } = parts;
const fleet = { redis, keys, queues, settings: parts.config.settings, isHeld: () => Promise.resolve(false) };

async function submit(): Promise<void> {
  await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  await parts.relay.idle();
}

/** As if the queue had been without a worker for so much longer. */
async function passTime(ms: number): Promise<void> {
  await redis.hset(keys.fleet.unservedQueues, 'tasks', (await redisNow(redis)) - ms);
}

const eventsOf = (notices: readonly QueueNotice[]): string[] => notices.map(({ event, queue }) => `${event} ${queue}`);

describe('a queue whose tasks wait without a worker', () => {
  it('needs attention once, after as long as a worker may miss heartbeats', async () => {
    await submit();
    expect(await findUnservedQueues(fleet)).toEqual([]);
    expect(await findUnservedQueues(fleet)).toEqual([]);
    await passTime(GRACE_MS);
    expect(await listUnservedQueues(fleet)).toEqual([]);
    const answers = await Promise.all([findUnservedQueues(fleet), findUnservedQueues(fleet)]);
    expect(answers.flat()).toEqual([
      { event: 'needs_attention', queue: 'tasks', reason: 'tasks wait and no worker serves the queue "tasks"' },
    ]);
    expect(await findUnservedQueues(fleet)).toEqual([]);
    // While none is served, nobody could use the places of its tasks.
    expect(await listUnservedQueues(fleet)).toEqual([]);
    await beat(fleet, 'w', { ...REPORT, queues: ['chat'] });
    expect(await listUnservedQueues(fleet)).toEqual(['tasks']);
  });

  it('needs attention for as long as its tasks are held, which have no tickets', async () => {
    await submit();
    await passTime(GRACE_MS);
    expect(eventsOf(await findUnservedQueues(fleet))).toEqual(['needs_attention tasks']);
    await queues.get(0, 'tasks').obliterate({ force: true });
    expect(await findUnservedQueues({ ...fleet, isHeld: (queue) => Promise.resolve(queue === 'tasks') })).toEqual([]);
    expect(eventsOf(await findUnservedQueues(fleet))).toEqual(['recovered tasks']);
  });

  it('has recovered, once, when a worker comes, and needs attention again when that is gone', async () => {
    await submit();
    await passTime(GRACE_MS);
    expect(eventsOf(await findUnservedQueues(fleet))).toEqual(['needs_attention tasks']);
    await beat(fleet, 'w', REPORT);
    const answers = await Promise.all([findUnservedQueues(fleet), findUnservedQueues(fleet)]);
    expect(eventsOf(answers.flat())).toEqual(['recovered tasks']);
    await redis.del(keys.fleet.workers);
    expect(await findUnservedQueues(fleet)).toEqual([]);
    await passTime(GRACE_MS);
    expect(eventsOf(await findUnservedQueues(fleet))).toEqual(['needs_attention tasks']);
  });

  it('is no matter for operators when a worker comes in time, or nothing waits', async () => {
    await submit();
    await findUnservedQueues(fleet);
    await beat(fleet, 'w', REPORT);
    expect(await findUnservedQueues(fleet)).toEqual([]);
    expect(await redis.exists(keys.fleet.unservedQueues)).toBe(0);
    await redis.flushall();
    await findUnservedQueues(fleet);
    expect(await redis.exists(keys.fleet.unservedQueues)).toBe(0);
  });
});

function worker(status: WorkerRecord['status']): WorkerRecord {
  return { ...REPORT, id: 'w', status, lastBeatAt: 1, drainRequestedAt: null };
}

describe('the reason why no worker takes tickets of a queue', () => {
  it.each([
    ['there is none', [], 'no worker serves the queue "tasks"'],
    ['it is dead', [worker('dead')], 'no worker serves the queue "tasks"'],
    ['it drains', [worker('draining'), worker('dead')], 'every worker that serves the queue "tasks" is draining'],
    ['a worker takes them', [worker('draining'), worker('busy')], null],
  ])('when %s', (_what, workers, reason) => {
    expect(explainUnserved(workers, 'tasks')).toBe(reason);
  });
});
