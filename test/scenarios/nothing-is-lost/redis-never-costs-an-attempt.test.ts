import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scriptFragments } from '#shared/ledger/codec/fragments.ts';
import { loadScripts } from '#shared/redis/script.ts';
import { wait } from '#shared/time/wait.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { type RedisProxy, startRedisProxy } from '../../support/fleet/redis-proxy.ts';
import { firstOf } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { cancelGraceMs: 300 } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const scripts = loadScripts('shared/ledger/scripts', scriptFragments());
/** What a worker calls the script by that claims. */
const CLAIM_SHA = shaOf('claim-tasks');
const isClaim = (sent: string): boolean => sent.includes(CLAIM_SHA);
/** A worker whose slots are full claims too, to tell what it runs, and that starts nothing. */
const isClaimOfFreeSlot = (sent: string): boolean => isClaim(sent) && sent.includes('"pool":{"free":1,');
const ONCE = { maxAttempts: 1 };
/** Three leases. */
const AWAY_MS = 4500;

/** More than get jobs in BullMQ for one slot. */
const TASKS = 30;

function shaOf(name: string): string {
  const script = scripts.get(name);
  if (!script) throw new Error(`There is no script ${name}`);
  return script.sha;
}

/** The tasks of these that an agent started with, once for each start. */
const startsOf = (ids: readonly string[]): string[] =>
  fleet
    .journal()
    .flatMap(({ event, task }) => (event === 'start' && ids.includes(task) ? [task] : []))
    .toSorted();

/** The task of these that runs by the ledger, and that no agent has started with. */
async function findClaimed(ids: readonly string[]): Promise<string | undefined> {
  const tasks = await Promise.all(ids.map(async (id) => await fleet.client.task(id)));
  const running = tasks.find(({ status }) => status === 'running')?.id;
  if (running === undefined) return undefined;
  // An agent that has its task starts at once.
  await wait(500);
  return startsOf([running]).length === 0 ? running : undefined;
}

/** Loses the answer to a claim of a worker with one free slot, and returns the task that it started. */
async function loseClaim(proxy: RedisProxy, ids: readonly string[]): Promise<string> {
  proxy.loseAnswerTo(isClaimOfFreeSlot);
  const claimed = await waitFor(() => findClaimed(ids), { deadlineMs: 20_000, what: 'a task to be claimed whose agent has not started' });
  if (claimed === undefined) throw new Error('There is no claimed task');
  return claimed;
}

const happened = (event: 'start' | 'abort', count: number): Promise<boolean> =>
  waitFor(() => fleet.journal().filter((entry) => entry.event === event).length >= count, {
    deadlineMs: 20_000,
    what: `${count} times ${event}`,
  });

describe('a Redis that fails never costs an attempt', () => {
  it.each(firstOf(['SIGKILL', 'SIGSTOP'] as const))('when it is away by %s for longer than the lease', async (signal) => {
    await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [60_000, 0] }, execution: ONCE });
    const ids = await Promise.all(Array.from({ length: 6 }, submit));
    await happened('start', ids.length);
    await fleet.redis.kill(signal);
    await Promise.all([happened('abort', ids.length), wait(AWAY_MS)]);
    await (signal === 'SIGSTOP' ? fleet.redis.kill('SIGCONT') : fleet.redis.restart());
    const tasks = await fleet.client.ended(ids, 20_000);
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
    const attempts = await Promise.all(ids.map((id) => fleet.client.attempts(id)));
    expect(attempts.map((list) => list.map(({ status }) => status))).toEqual(ids.map(() => ['interrupted', 'success']));
  });

  it.each(
    firstOf([
      ['is killed', 'WORKER_LOST'],
      ['goes on without the answer', undefined],
    ]),
  )('when a worker that claimed a ready task %s before its agent started', async (end, code) => {
    const proxy = await startRedisProxy(fleet.redis.port);
    try {
      const runAll = async (count: number, workMs = 0): Promise<string[]> =>
        await Promise.all(Array.from({ length: count }, () => fleet.client.submit({ execution: ONCE, context: { workMs: [workMs] } })));
      // An idle slot of another queue would claim beside it, and start nothing.
      const worker = await fleet.start('worker', { REDIS_URL: proxy.url, MUSTER_QUEUES: 'tasks=1' });
      // Redis knows its scripts once it has run more than BullMQ had tickets of.
      await fleet.client.ended(await runAll(TASKS), 20_000);
      const holder = await fleet.client.submit({ context: { workMs: [60_000] } });
      await waitFor(() => startsOf([holder]).length === 1, { deadlineMs: 20_000, what: 'the slot to be used' });
      const ids = await runAll(TASKS, 300);
      await fleet.client.call('POST', `/v1/tasks/${holder}/cancel`);
      await waitFor(() => startsOf(ids).length >= TASKS / 2, { deadlineMs: 45_000, what: 'half of the tasks to start' });
      const claimed = await loseClaim(proxy, ids);
      if (end === 'is killed') {
        await worker.kill('SIGKILL');
        await fleet.start('worker', { MUSTER_QUEUES: 'tasks=1,maintenance=1' });
      } else {
        proxy.reset();
        proxy.repair();
      }
      const tasks = await fleet.client.ended(ids, 20_000);
      expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(ids.map(() => ['completed', 1]));
      expect((await fleet.client.attempts(claimed)).map(({ status, error }) => [status, error?.code])).toEqual([
        ['interrupted', code],
        ['success', undefined],
      ]);
      expect(startsOf(ids)).toEqual(ids.toSorted());
    } finally {
      await proxy.close();
    }
  });

  it.each(firstOf(['lost with its connection', 'late']))('when it applied a claim whose answer is %s', async (loss) => {
    const proxy = await startRedisProxy(fleet.redis.port);
    try {
      const env = { REDIS_URL: proxy.url, MUSTER_QUEUES: 'tasks=4', LOG_LEVEL: 'debug' };
      const worker = await fleet.start('worker', env);
      // Whatever it runs by now, Redis knows its scripts.
      const first = await fleet.client.submit({ execution: ONCE });
      await fleet.client.ended([first], 20_000);
      proxy.loseAnswerTo(isClaim);
      const id = await fleet.client.submit({ execution: ONCE });
      await fleet.client.reaches(id, ['running']);
      const late = (): number => worker.lines.filter(({ event, chore }) => event === 'chore.failed' && chore === 'reclaim-attempts').length;
      if (loss === 'late') await waitFor(() => late() > 1, { deadlineMs: 20_000, what: 'the worker to stop waiting for answers' });
      else proxy.reset();
      proxy.repair();
      const [task] = await fleet.client.ended([id], 20_000);
      expect(task).toMatchObject({ status: 'completed', attempt: 1 });
      expect((await fleet.client.attempts(id)).map(({ status }) => status)).toEqual(['interrupted', 'success']);
      expect(fleet.journal().filter(({ event, task: of }) => event === 'start' && of === id)).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });
});
