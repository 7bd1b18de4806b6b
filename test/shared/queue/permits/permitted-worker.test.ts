import { nat, record, sample } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FleetLimits } from '#shared/config/settings/fleet-limits.ts';
import { configuredFleetLimits } from '#shared/tenants/fleet-limits/fleet-limits-directory.ts';
import { createLog } from '#shared/log/create-log.ts';
import { FleetPermits, type FleetPermitsOptions } from '#shared/queue/permits/fleet-permits.ts';
import { wakePoller } from '#shared/queue/permits/next-ticket.ts';
import { permitsFor } from '#shared/queue/permits/ticket-permits.ts';
import { openQueues, type Queues } from '#shared/queue/queues.ts';
import { ticketJob } from '#shared/queue/tickets/ticket.ts';
import { TicketWorker } from '#shared/queue/workers/ticket-worker.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { Subscription } from '#shared/redis/subscription.ts';
import { systemClock } from '#shared/time/clock.ts';
import { noFailure } from '../../../support/open-test-parts.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { openTestSource } from '../test-source.ts';

vi.setConfig({ testTimeout: 90_000 });

const keys = createKeys(1);
const log = createLog({ level: 'silent', service: 'test' });
const QUEUES = ['tasks', 'chat', 'critical'] as const;

let server: RedisServer;
let redis: RedisClient;
let queues: Queues;
let stops: (() => Promise<unknown>)[];
/** Names of the tickets in the order of their starts, and how many ran at once. */
let started: string[];
let atOnce: number;
let inside: number;
let held: (() => void)[];
let isOver: boolean;
/** Queues whose takers wait for a slot. */
let waiting: Set<string>;
/** Limits of the fleet that were changed since the workers started. */
let changed: Partial<FleetLimits>;

beforeEach(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'test', log });
  queues = openQueues(redis, keys, log);
  [stops, started, held, atOnce, inside, isOver, waiting, changed] = [[], [], [], 0, 0, false, new Set(), {}];
});

afterEach(async () => {
  isOver = true;
  for (const open of held) open();
  await Promise.all(stops.map((stop) => stop()));
  await queues.close();
  redis.disconnect();
  await server.stop();
});

interface Wish {
  cap: number;
  /** In all, of which one is kept for critical tickets. */
  slots: number;
  handle?: () => Promise<unknown>;
}

/** A process with takers of three queues. */
function startWorker(name: string, { cap, slots, handle = () => Promise.resolve() }: Wish): void {
  const source = openTestSource({
    url: server.url,
    queues,
    log,
    settings: {
      limits: { maxConcurrent: cap },
      worker: { leaseMs: 1000, fleetFullMs: 100 },
      // Longer than any test here: only wake-ups count.
      consumers: { pollMs: 60_000, stoppedAfterMs: 65_000 },
    },
  });
  const { settings } = source;
  const subscribe: FleetPermitsOptions['subscribe'] = (channels, onMessage) => {
    const open = (): RedisClient => connectRedis({ url: server.url, name: 'test', log, role: 'subscriber' });
    return new Subscription({ open, redis, keys, channels, onMessage, settings: settings.consumers, fail: noFailure, log });
  };
  const weights = new Map(QUEUES.map((queue) => [queue, 1] as const));
  const { shares, lowAgeMs } = settings.worker;
  const policy = { slots, reserved: Math.min(1, slots - 1), weights, shares, lowAgeMs };
  const fleetLimits = (): FleetLimits => ({ ...configuredFleetLimits(settings), ...changed });
  const fleet = { redis, keys, settings, fleetLimits };
  const permits = new FleetPermits({ fleet, worker: name, policy, subscribe, clock: systemClock, log });
  permits.start();
  const acquire = permits.pool.acquire.bind(permits.pool);
  permits.pool.acquire = async (request) => {
    waiting.add(request.queue);
    return await acquire(request).finally(() => waiting.delete(request.queue));
  };
  const takers = QUEUES.map(
    (queue) =>
      new TicketWorker({
        queue,
        slots,
        shard: 0,
        source,
        permits: permitsFor(queue, { pool: permits.pool, tickets: queues.get(0, queue) }),
        handle: async ({ task }) => {
          started.push(task);
          inside += 1;
          atOnce = Math.max(atOnce, inside);
          await handle();
          inside -= 1;
          return { kind: 'done', note: 'done' };
        },
        onReturned: () => Promise.resolve(),
      }),
  );
  for (const taker of takers) taker.start();
  stops.push(async () => {
    await Promise.all(takers.map((taker) => taker.stop(2000)));
    await permits.stop();
    source.close();
  });
}

const add = async (queue: (typeof QUEUES)[number], task: string, priority = 5): Promise<void> => {
  const ticket = {
    tenant: 'acme',
    task,
    number: 1,
    entry: '',
    agent: 'echo',
    lane: null,
    queue,
    priority,
    maxAttempts: 1,
    notBefore: null,
  };
  const { name, data, opts } = ticketJob(ticket);
  await queues.get(0, queue).add(name, data, opts);
};
const untilStarted = (count: number): Promise<unknown> =>
  waitFor(() => started.length >= count, { deadlineMs: 40_000, what: `${count} starts` });
/** Until the takers of this many queues wait for tickets in Redis. */
const untilBlocked = (count: number): Promise<unknown> =>
  waitFor(async () => (await redis.info('clients')).includes(`blocked_clients:${count}\r`), {
    deadlineMs: 30_000,
    what: `${count} idle takers`,
  });
/** Adds a ticket and waits until the full worker has passed its wake-up on: its taker waits for a slot. */
async function addToFull(queue: (typeof QUEUES)[number], task: string): Promise<void> {
  await add(queue, task);
  const marker = queues.get(0, queue).toKey('marker');
  await waitFor(async () => (await redis.exists(marker)) === 1, { deadlineMs: 30_000, what: `the wake-up for ${task} to be passed on` });
}
/** A taker that is still fetching is passed over. */
const untilWaiting = (...names: (typeof QUEUES)[number][]): Promise<unknown> =>
  waitFor(() => names.every((name) => waiting.has(name)), { deadlineMs: 30_000, what: `the takers of ${names.join(' and ')} to wait` });
const leased = async (): Promise<number> => (await redis.hvals(keys.fleet.permits)).reduce((total, count) => total + Number(count), 0);
const hold = (): Promise<void> => (isOver ? Promise.resolve() : new Promise((resolve) => held.push(resolve)));

describe('takers under a cap', () => {
  it('run through many tickets of several queues without ever standing still, a few at a time', async () => {
    for (let n = 0; n < 300; n += 1) await add(QUEUES[n % 3] ?? 'tasks', `t${n}`, 1 + (n % 10));
    startWorker('one', { cap: 3, slots: 4 });
    startWorker('two', { cap: 3, slots: 4 });
    await untilStarted(300);
    expect(atOnce).toBeLessThanOrEqual(3);
    expect(new Set(started).size).toBe(300);
  }, 60_000);

  it('start the best ticket of all queues next, also one that came while the fleet was full', async () => {
    startWorker('one', { cap: 1, slots: 4, handle: hold });
    await add('tasks', 'holder');
    await untilStarted(1);
    await add('tasks', 'five');
    await add('chat', 'nine', 9);
    await add('tasks', 'seven', 7);
    await add('critical', 'critical', 10);
    await waitFor(async () => (await redis.hlen(keys.fleet.permitWaiters)) === 2, {
      deadlineMs: 5000,
      what: 'both kinds of permits to be waited for',
    });
    for (let n = 0; n < 4; n += 1) {
      held.shift()?.();
      await untilStarted(n + 2);
    }
    expect(started).toEqual(['holder', 'critical', 'nine', 'seven', 'five']);
  });

  it('leave tickets that cannot run where they are', async () => {
    startWorker('one', { cap: 1, slots: 4, handle: hold });
    for (let n = 0; n < 10; n += 1) await add('tasks', `t${n}`);
    await untilStarted(1);
    expect(await queues.get(0, 'tasks').getActiveCount()).toBe(1);
    expect(await queues.get(0, 'tasks').getPrioritizedCount()).toBe(9);
  });

  it('of one worker give what they do not use to another that has tickets', async () => {
    const settings = { cap: 2, slots: 3, handle: hold };
    startWorker('idle', settings);
    await add('chat', 'a');
    await untilStarted(1);
    startWorker('busy', settings);
    await add('chat', 'b');
    held.shift()?.();
    await untilStarted(2);
    await add('critical', 'c', 10);
    await untilStarted(3);
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('follow a cap that is lowered while they run, and one that is raised while they wait', async () => {
    for (let n = 0; n < 12; n += 1) await add('tasks', `t${n}`);
    startWorker('one', { cap: 5, slots: 5, handle: hold });
    startWorker('two', { cap: 5, slots: 5, handle: hold });
    await untilStarted(4);
    changed = { maxConcurrent: 2 };
    await waitFor(async () => (await leased()) <= 2, { deadlineMs: 5000, what: 'the permits above the cap to be returned' });
    // Those that ran before the cap was lowered run on, beside one that the worker with the last permit may start.
    for (const open of held.splice(0, 4)) open();
    await waitFor(() => inside === 1 && started.length === 5, { deadlineMs: 5000, what: 'the four to end, and the next one to start' });
    atOnce = 0;
    for (const count of [6, 7]) {
      held.shift()?.();
      await untilStarted(count);
    }
    expect(atOnce).toBeLessThanOrEqual(1);
    changed = { maxConcurrent: 5 };
    await waitFor(() => inside === 4, { deadlineMs: 5000, what: 'the raised cap to be used' });
  });

  it('end at once while they wait for room', async () => {
    startWorker('one', { cap: 1, slots: 1, handle: hold });
    await add('tasks', 'a');
    await add('chat', 'b');
    await untilStarted(1);
    startWorker('two', { cap: 1, slots: 1 });
    const before = performance.now();
    await stops[1]?.();
    expect(performance.now() - before).toBeLessThan(2000);
    stops.splice(1);
    expect(started).toEqual(['a']);
  });
});

describe('takers of one worker', () => {
  const roomy = { cap: 1000, handle: hold };

  it('may each use all slots but the one that is kept for critical tickets', async () => {
    startWorker('one', { ...roomy, slots: 6 });
    for (let n = 0; n < 8; n += 1) await add('tasks', `t${n}`);
    await untilStarted(5);
    await add('chat', 'a message', 9);
    await add('critical', 'critical', 10);
    await untilStarted(6);
    expect(started.at(-1)).toBe('critical');
    expect(started.filter((task) => task.startsWith('t'))).toHaveLength(5);
    expect(await queues.get(0, 'tasks').getPrioritizedCount()).toBe(3);
  });

  it('give the next free slot to a message that came behind a flood', async () => {
    startWorker('one', { ...roomy, slots: 3 });
    for (let n = 0; n < 50; n += 1) await add('tasks', `t${n}`);
    await untilStarted(2);
    await untilBlocked(2);
    await addToFull('chat', 'a message');
    await untilWaiting('tasks', 'chat');
    held.shift()?.();
    await untilStarted(3);
    expect(started.at(-1)).toBe('a message');
  });

  it('give a slot to the best ticket that waits, whatever ran in it before', async () => {
    startWorker('one', { ...roomy, slots: 2 });
    await add('tasks', 'nine', 9);
    await untilStarted(1);
    await add('tasks', 'three', 3);
    await add('chat', 'eight', 8);
    await untilWaiting('tasks', 'chat');
    held.shift()?.();
    await untilStarted(2);
    expect(started).toEqual(['nine', 'eight']);
  });

  it('give a slot to the best ticket each time, also while it goes from one short ticket of a queue to the next', async () => {
    let isFirst = true;
    const handle = (): Promise<void> => {
      if (!isFirst) return Promise.resolve();
      isFirst = false;
      return hold();
    };
    startWorker('one', { cap: 1000, slots: 2, handle });
    await add('tasks', 'first', 7);
    await untilStarted(1);
    for (let n = 0; n < 6; n += 1) {
      await add('tasks', `seven ${n}`, 7);
      await add('tasks', `five ${n}`, 5);
      await add('chat', `six ${n}`, 6);
    }
    await untilWaiting('tasks', 'chat');
    held.shift()?.();
    await untilStarted(19);
    expect(started.map((task) => task.split(' ')[0]).join(' ')).toBe(`first${' seven'.repeat(6)}${' six'.repeat(6)}${' five'.repeat(6)}`);
  });

  it('run low tickets in all slots while nothing else waits, and no new ones once others do', async () => {
    startWorker('one', { ...roomy, slots: 5 });
    for (let n = 0; n < 10; n += 1) await add('tasks', `low ${n}`, 1);
    await untilStarted(4);
    await untilBlocked(2);
    await addToFull('chat', 'message 0');
    for (let n = 1; n < 3; n += 1) await add('chat', `message ${n}`);
    for (let n = 0; n < 3; n += 1) {
      await untilWaiting('tasks', 'chat');
      held.shift()?.();
      await untilStarted(n + 5);
    }
    expect(started.slice(4)).toEqual(['message 0', 'message 1', 'message 2']);
  });

  it('leave a ticket that no slot is free for to another worker that has one', async () => {
    startWorker('full', { ...roomy, slots: 3 });
    await add('tasks', 'a');
    await add('tasks', 'b');
    await untilStarted(2);
    startWorker('free', { ...roomy, slots: 3 });
    await add('chat', 'c');
    await add('tasks', 'd');
    await untilStarted(4);
    expect(started.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['with room in the fleet', { cap: 1000, inAll: 10 }],
    ['under a cap of the fleet, of which one is kept for critical tickets', { cap: 8, inAll: 7 }],
  ])('leave no slot free while a ticket waits, whatever comes and ends, %s', async (_which, { cap, inAll }) => {
    for (const name of ['one', 'two']) startWorker(name, { cap, slots: 6, handle: hold });
    let added = 0;
    for (const { comes, ends } of sample(record({ comes: nat(6), ends: nat(6) }), { numRuns: 60, seed: 7 })) {
      for (let n = 0; n < comes; n += 1, added += 1) await add(n % 3 === 0 ? 'chat' : 'tasks', `t${added}`, 1 + ((n * 7) % 10));
      for (const end of held.splice(0, ends)) end();
      const isFull = (): boolean => inside === Math.min(inAll, inside + added - started.length);
      await waitFor(isFull, { deadlineMs: 30_000, what: `no free slot beside ${added - started.length} tickets` });
    }
    expect(started.length).toBeGreaterThan(inAll);
  });
});

const orderOfTasks = async (): Promise<string[]> =>
  (await queues.get(0, 'tasks').getJobs(['prioritized'], 0, -1, true)).map(({ data: { task }, priority }) => `${task} ${priority}`);
const isWakeUpThere = async (): Promise<boolean> => (await redis.exists(queues.get(0, 'tasks').toKey('marker'))) === 1;
/** As when a taker took it: BullMQ's consumers wait for this key. */
const takeWakeUp = (): Promise<unknown> => redis.zpopmin(queues.get(0, 'tasks').toKey('marker'));

describe('a wake-up that is passed on', () => {
  it('leaves every ticket in its place and with its priority', async () => {
    for (const [task, priority] of Object.entries({ low: 1, five: 5, urgent: 9, 'another five': 5, 'another low': 1 }))
      await add('tasks', task, priority);
    const before = await orderOfTasks();
    await takeWakeUp();
    await wakePoller(queues.get(0, 'tasks'));
    expect([await isWakeUpThere(), await orderOfTasks()]).toEqual([true, before]);
  });

  it('wakes nobody for a queue that is paused or has no ticket', async () => {
    await wakePoller(queues.get(0, 'tasks'));
    expect(await isWakeUpThere()).toBe(false);
    await add('tasks', 'one');
    await queues.get(0, 'tasks').pause();
    await wakePoller(queues.get(0, 'tasks'));
    expect(await isWakeUpThere()).toBe(false);
  });
});
