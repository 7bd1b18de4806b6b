import type { Job } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import type { JobSource } from '#shared/queue/consumer/job-source.ts';
import { openQueues, type Queues, type TicketData } from '#shared/queue/queues.ts';
import { TicketRelay } from '#shared/queue/tickets/ticket-relay.ts';
import { TicketWorker, type TicketResult } from '#shared/queue/workers/ticket-worker.ts';
import { ticketId, type Ticket } from '#shared/queue/tickets/ticket.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openTestSource } from '../test-source.ts';

const keys = createKeys(1);
const log = createLog({ level: 'silent', service: 'test' });

let server: RedisServer;
let redis: RedisClient;
let source: JobSource;
let queues: Queues;
let relay: TicketRelay;
let worker: TicketWorker | undefined;
let returned: string[];
let onReturned: (id: string) => void;

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  queues = openQueues(redis, keys, log);
  source = openTestSource({ url: server.url, queues, log });
  relay = new TicketRelay({ redis, keys, queues, log });
  returned = [];
  onReturned = (id) => returned.push(id);
});

afterEach(async () => {
  await worker?.stop(2000);
  worker = undefined;
  await queues.close();
  source.close();
  redis.disconnect();
  await server.stop();
});

const add = async (...tickets: (Partial<Ticket> & { task: string })[]): Promise<void> => {
  for (const ticket of tickets) {
    relay.add({
      tenant: 'acme',
      number: 1,
      entry: `acme/${ticket.task}.1`,
      agent: 'echo',
      lane: null,
      queue: 'tasks',
      priority: 5,
      maxAttempts: 3,
      ...ticket,
    });
    // One after the other, so that they have an order.
    await relay.idle();
  }
};

interface Look {
  task: string;
  at: number;
}

/** Starts a worker; returns what it was given, in order. */
const work = (handle: (data: TicketData, times: number) => TicketResult | Promise<TicketResult>, slots = 1): Look[] => {
  const looks: Look[] = [];
  worker = new TicketWorker({
    source,
    shard: 0,
    queue: 'tasks',
    slots,
    handle: async (data) => {
      looks.push({ task: data.task, at: Date.now() });
      return await handle(data, looks.filter(({ task }) => task === data.task).length);
    },
    onReturned: (id) => Promise.resolve(onReturned(id)),
  });
  worker.start();
  return looks;
};

const job = async (task: string): Promise<Job<TicketData>> => {
  const found = await queues.get(0, 'tasks').getJob(ticketId(task, 1));
  if (!found) throw new Error(`There is no ticket of ${task}`);
  return found;
};
const becomes = async (task: string, state: string): Promise<Job<TicketData>> => {
  await waitFor(async () => (await (await job(task)).getState()) === state, { deadlineMs: 5000, what: `${task} to be ${state}` });
  return await job(task);
};
const done = (): TicketResult => ({ kind: 'done', note: 'completed' });

describe('a ticket of a new task for a daemon', () => {
  it('says what the task needs, but not when it comes again', async () => {
    const needs = { agent: 'echo', requirements: { capabilities: ['gpu'] }, user: 'ann' };
    const given: unknown[] = [];
    await add({ task: 'new', needs });
    work((data, times) => {
      given.push(data.needs);
      return times === 1 ? { kind: 'returned' } : done();
    });
    await becomes('new', 'completed');
    expect(given).toEqual([needs, undefined]);
  });
});

describe('a queue', () => {
  it('gives out priority 10 first and 1 last, and the oldest first within one', async () => {
    const wishes = [3, 10, 1, 5, 10, 2, 9, 5, 4, 8, 7, 6].map((priority, n) => ({ task: `${priority}-${n}`, priority }));
    await add(...wishes);
    const looks = work(done);
    await waitFor(() => looks.length === wishes.length, { deadlineMs: 5000, what: 'all to be taken' });
    expect(looks.map(({ task }) => task)).toEqual(wishes.toSorted((a, b) => b.priority - a.priority).map(({ task }) => task));
  });

  it('is worked on by as many slots as were given, and no more', async () => {
    await add(...Array.from({ length: 12 }, (_, n) => ({ task: `t${n}` })));
    let inside = 0;
    let atOnce = 0;
    const gates: (() => void)[] = [];
    const looks = work(async () => {
      inside += 1;
      atOnce = Math.max(atOnce, inside);
      await new Promise<void>((resolve) => gates.push(resolve));
      inside -= 1;
      return done();
    }, 4);
    await waitFor(() => gates.length === 4, { deadlineMs: 5000, what: 'four starts' });
    for (let n = 0; n < 12; n += 1) (await waitFor(() => gates.shift(), { deadlineMs: 5000, what: 'a start' }))();
    await waitFor(() => inside === 0 && looks.length === 12, { deadlineMs: 5000, what: 'all to end' });
    expect(atOnce).toBe(4);
  });
});

describe('a ticket', () => {
  it('that is done keeps its note for the board', async () => {
    await add({ task: 'a', lane: 's' });
    work(done);
    const found = await becomes('a', 'completed');
    expect([found.returnvalue, found.data, found.name]).toEqual(['completed', { tenant: 'acme', task: 'a', lane: 's' }, 'echo']);
  });

  it('of a task that failed for good is listed as failed and never comes back, attempts left or not', async () => {
    await add({ task: 'a', maxAttempts: 10 });
    const looks = work(({ task }) => (task === 'a' ? { kind: 'failed', message: 'INVALID_INPUT: no prompt' } : done()));
    const found = await becomes('a', 'failed');
    expect(found.failedReason).toBe('INVALID_INPUT: no prompt');
    await add({ task: 'b' });
    await becomes('b', 'completed');
    expect(looks.map(({ task }) => task)).toEqual(['a', 'b']);
  });

  it('of a failed attempt shows the board nothing of where our files are', async () => {
    await add({ task: 'a' });
    work(() => ({ kind: 'failed', message: 'INVALID_INPUT: no prompt' }));
    expect(JSON.stringify((await becomes('a', 'failed')).stacktrace)).not.toContain('ticket-worker');
  });

  it('that is returned comes again, as often as it takes, and costs no attempt', async () => {
    await add({ task: 'a', maxAttempts: 1 });
    const looks = work((_data, times) => (times <= 4 ? { kind: 'returned' } : done()));
    const found = await becomes('a', 'completed');
    expect(looks).toHaveLength(5);
    expect(found.attemptsMade).toBeLessThanOrEqual(1);
    expect(returned).toEqual(['a', 'a', 'a', 'a']);
  });

  it('that is returned goes back to its place by priority at once', async () => {
    await add({ task: 'low', priority: 2, maxAttempts: 1 }, { task: 'high', priority: 9, maxAttempts: 1 });
    const looks = work((data, times) => (data.task === 'high' && times <= 3 ? { kind: 'returned' } : done()));
    await becomes('low', 'completed');
    expect(looks.map(({ task }) => task)).toEqual(['high', 'high', 'high', 'high', 'low']);
    expect(returned).toEqual(['high', 'high', 'high']);
  });

  it('that is returned is back in its queue by the time its return is reported', async () => {
    await add({ task: 'a' });
    const states: Promise<string>[] = [];
    onReturned = (id) => states.push(job(id).then((found) => found.getState()));
    work(() => {
      // So that it stays where it is returned to.
      void worker?.quiet();
      return { kind: 'returned' };
    });
    await waitFor(() => states.length === 1, { deadlineMs: 5000, what: 'the return' });
    expect(['waiting', 'prioritized']).toContain(await states[0]);
  });

  it('whose handler breaks is tried again within its attempts and then listed as failed', async () => {
    await add({ task: 'a', maxAttempts: 2 });
    const looks = work(() => {
      throw new Error('a mistake of ours');
    });
    const found = await becomes('a', 'failed');
    expect([looks.length, found.failedReason]).toEqual([2, 'a mistake of ours']);
    expect(returned).toEqual([]);
  });
});

describe('a worker of tickets', () => {
  it('takes no more once it is quiet, and lets what runs go on', async () => {
    await add({ task: 'a' }, { task: 'b' });
    const gates: (() => void)[] = [];
    const looks = work(async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return done();
    });
    const open = await waitFor(() => gates[0], { deadlineMs: 5000, what: 'a start' });
    await worker?.quiet();
    open();
    await becomes('a', 'completed');
    expect(looks.map(({ task }) => task)).toEqual(['a']);
    expect(await (await job('b')).getState()).toBe('prioritized');
  });

  it('waits for what runs when it stops', async () => {
    await add({ task: 'a' });
    const gates: (() => void)[] = [];
    work(async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return done();
    });
    const open = await waitFor(() => gates[0], { deadlineMs: 5000, what: 'a start' });
    const stopping = worker?.stop(5000);
    open();
    await stopping;
    expect(await (await job('a')).getState()).toBe('completed');
  });

  it('stops while Redis is away', async () => {
    work(done);
    await add({ task: 'a' });
    await becomes('a', 'completed');
    await server.kill('SIGSTOP');
    await worker?.stop(300);
    worker = undefined;
    await server.kill('SIGCONT');
    expect(await (await job('a')).getState()).toBe('completed');
  });
});
