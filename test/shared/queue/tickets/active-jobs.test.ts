import { expect, it } from 'vitest';
import type { RunningTask } from '#shared/ledger/read/list-running.ts';
import { activeJobs, countActive } from '#shared/queue/tickets/active-jobs.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const { queues, redis } = await useEmptyParts();
const queue = queues.get(0, 'tasks');

function running(task: string, state: Partial<TaskState> = {}): RunningTask {
  const rest = { queue: 'tasks', agent: 'echo', priority: 5, maxAttempts: 3, ticket: 1, attempt: 1, createdAt: 1, startedAt: 2 };
  return { tenant: 'default', task, state: { ...rest, ...state } as TaskState };
}

/** Gives these tickets to workers, one after the other; those that are `gone` have no job, as when they have just ended. */
async function hold(tickets: string[], gone: string[] = []): Promise<void> {
  for (const id of tickets.filter((each) => !gone.includes(each))) {
    await queue.add('echo', { tenant: 'default', task: id.split('.')[0] ?? '' }, { jobId: id });
  }
  await redis.lpush(queue.toKey('active'), ...tickets);
}

const idsOf = async (tasks: RunningTask[], range: [number, number] = [0, 10]): Promise<(string | undefined)[]> =>
  (await activeJobs(queue, Promise.resolve(tasks), range)).map(({ id }) => id);

it('has tickets of BullMQ and tasks without one in the order of their start, and last what is about to be claimed', async () => {
  await hold(['c', 'b', 'a']);
  const tasks = [running('a'), running('x'), running('b')];
  expect(await idsOf(tasks)).toEqual(['a', 'x@default', 'b', 'c']);
  expect(await idsOf(tasks, [1, 3])).toEqual(['x@default', 'b']);
  expect(await idsOf(tasks, [4, 8])).toEqual([]);
  expect(await countActive(queue, Promise.resolve(tasks))).toBe(4);
});

it('has a task once although it has several tickets', async () => {
  await hold(['a', 'a.2', 'b.2']);
  const tasks = [running('a', { ticket: 2 }), running('b', { ticket: 3 })];
  expect(await idsOf(tasks)).toEqual(['a.2', 'b.2']);
  expect(await countActive(queue, Promise.resolve(tasks))).toBe(2);
});

it('leaves out tasks of other queues', async () => {
  expect(await idsOf([running('a', { queue: 'chat' }), running('b')])).toEqual(['b@default']);
  expect(await countActive(queue, Promise.resolve([running('a', { queue: 'chat' })]))).toBe(0);
});

it('shows a running task from the ledger when its ticket is gone', async () => {
  await hold(['a', 'b'], ['a', 'b']);
  expect(await idsOf([running('a')])).toEqual(['a@default']);
});

it('shows the attempt of a task without a ticket', async () => {
  const task = running('a', { ticket: 4, attempt: 3, worker: 'w1', lane: 'session:s', createdAt: 5, startedAt: 9 });
  const [job] = await activeJobs(queue, Promise.resolve([task]), [0, 1]);
  expect(await job?.getState()).toBe('active');
  expect(job).toMatchObject({
    id: 'a.4@default',
    name: 'echo',
    data: { tenant: 'default', task: 'a', lane: 'session:s' },
    timestamp: 5,
    processedOn: 9,
    processedBy: 'w1',
    attemptsMade: 2,
    attemptsStarted: 3,
  });
});
