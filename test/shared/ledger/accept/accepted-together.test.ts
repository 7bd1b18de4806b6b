import { describe, expect, it } from 'vitest';
import type { AcceptAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { acceptNewTask, acceptNewTasks } from '#shared/ledger/accept/accept-task.ts';
import type { NewTask } from '#shared/ledger/accept/new-task.ts';
import { aTask, limitsOf, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useCheckedLedger } from '../support/use-ledger.ts';

const test = await useCheckedLedger();
const keys = test.keys.tenant(TENANT);
const lane = (name: string): Pick<TaskWish, 'lane'> => ({ lane: { name: `session:${name}`, limit: 1 } });

/** Requests that meet each other, and what `prepare` accepted before them, in all ways. */
function requests(earlier: NewTask): NewTask[] {
  const first = aTask({ key: 'k1', ...lane('a') });
  return [
    first,
    aTask({ key: 'k1', ...lane('b') }),
    first,
    aTask({ key: 'k1', digest: 'another' }),
    aTask({ key: 'earlier', ...lane('b') }),
    earlier,
    aTask({ key: 'k2', ...lane('a') }),
    aTask({ key: 'k3', ...lane('taken'), priority: 8 }),
    aTask({ ...lane('taken'), deadline: Date.now() + 3_600_000 }),
    aTask({ lane: { name: 'session:taken', limit: 1, order: 7 } }),
    aTask({ ...lane('taken'), mode: 'queue' }),
    aTask({ ...lane('taken'), sla: Date.now() + 3_600_000 }),
    aTask({ ...lane('b'), correlationId: 'c', sharedLanes: [{ name: 'gpu', limit: 2 }] }),
    aTask({ key: 'k4', skip: 'not now' }),
    aTask({ key: 'k5', ...lane('c'), scheduledFor: Date.now() + 3_600_000 }),
    aTask({ key: 'k5' }),
    aTask({ key: 'k6', ...lane('c'), deadline: Date.now() + 3_600_000, sharedLanes: [{ name: 'gpu', limit: 2 }] }),
  ];
}

async function prepare(): Promise<NewTask> {
  await test.accept({ key: 'earlier', ...lane('taken') });
  const earlier = aTask();
  await acceptNewTask(test.ledger, earlier);
  return earlier;
}

const kindOf = (answer: AcceptAnswer | Error): unknown =>
  'kind' in answer && answer.kind === 'accepted' ? [answer.status, answer.gate, answer.ahead] : 'kind' in answer ? answer.kind : answer;

async function countedCommands(step: () => Promise<unknown>): Promise<Map<string, number>> {
  await test.redis.config('RESETSTAT');
  await step();
  const lines = (await test.redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm);
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
}

describe('requests of one call', () => {
  it('have the answers that they have one by one', async () => {
    const tasks = requests(await prepare());
    const together = (await acceptNewTasks(test.ledger, tasks)).map(kindOf);
    const stored = await test.redis.hlen(keys.bodies);
    await test.reset();
    const others = requests(await prepare());
    const oneByOne: unknown[] = [];
    for (const task of others) oneByOne.push(kindOf(await acceptNewTask(test.ledger, task)));
    expect(together).toEqual(oneByOne);
    expect(stored).toBe(await test.redis.hlen(keys.bodies));
    expect(stored).toBe(together.filter((kind) => Array.isArray(kind)).length + 2);
  });

  it('leave nothing of those that a rate refuses', async () => {
    test.limits = limitsOf({ rates: { user: { perMinute: 1, perHour: 60, burst: 2 } } });
    const tasks = ['a', 'b', 'c', 'd'].map((name) => aTask({ key: name, ...lane(name) }));
    expect((await acceptNewTasks(test.ledger, tasks)).map((answer) => 'kind' in answer && answer.kind)).toEqual([
      'accepted',
      'accepted',
      'rate',
      'rate',
    ]);
    expect((await test.redis.hkeys(keys.bodies)).toSorted()).toEqual(tasks.slice(0, 2).map(({ body }) => body.id));
  });

  it('read keys, lanes and what is stored once', async () => {
    const tasks = Array.from({ length: 20 }, (_, at) => aTask({ key: `k${at}`, ...lane(`s${at}`) }));
    const commands = await countedCommands(() => acceptNewTasks(test.ledger, tasks));
    expect(commands.get('evalsha') ?? commands.get('eval')).toBe(1);
    const once = ['mget', 'get', 'hsetnx', 'hmget', 'exists'].map((name) => [name, commands.get(name) ?? 0]);
    expect(Object.fromEntries(once)).toEqual({ mget: 1, get: 0, hsetnx: 0, hmget: 1, exists: 4 });
  });

  it('read no state of those that wait in a line, and write theirs at once', async () => {
    const holder = await test.accepted(lane('a'));
    const tasks = Array.from({ length: 20 }, () => aTask(lane('a')));
    const commands = await countedCommands(() => acceptNewTasks(test.ledger, tasks));
    expect(['hget', 'hset', 'zrank'].map((name) => commands.get(name) ?? 0)).toEqual([0, 2, 0]);
    const seen: string[] = [];
    for (let id: string | undefined = holder; id !== undefined; id = test.granted.shift()?.task) {
      seen.push(id);
      await test.completed(id);
    }
    expect(seen).toEqual([holder, ...tasks.map(({ body }) => body.id)]);
  });
});
