import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { readState, readStates } from '#shared/ledger/read/read-states.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { TicketQueue } from '#shared/queue/queues.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';

const SLOTS = 2;
/** More than tickets in BullMQ before a worker is there. */
const MANY_SLOTS = 20;
/** Tickets that go into BullMQ before a worker is there. */
const LOOK_AHEAD = 4;

let starts: string[];
/** Holds the runs back whose input it names. */
let gates: Map<string, PromiseWithResolvers<void>>;

const agent: AgentFunction = async ({ input }) => {
  starts.push(input);
  await gates.get(input)?.promise;
  if (input.startsWith('fail')) throw new TaskFailure('INVALID_INPUT', 'it cannot be done');
  return 'done';
};

const { url } = await useRedis();
let parts: Parts;
let worker: Service;
let tickets: TicketQueue;

beforeEach(async () => {
  starts = [];
  gates = new Map();
  parts = await openTestParts({
    redisUrl: url,
    settings: { agents: { work: { kind: 'function', run: agent } }, dispatch: { lookAhead: LOOK_AHEAD } },
    env: { MUSTER_QUEUES: `tasks=${SLOTS}` },
  });
  tickets = parts.queues.get(0, 'tasks');
});

afterEach(async () => {
  for (const gate of gates.values()) gate.resolve();
  await worker.stop(2000);
  await parts.relay.idle();
  await parts.redis.flushall();
  await parts.close();
});

async function submit(...inputs: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) ids.push((await acceptTask(parts, { tenant: 'default', agent: 'work', input })).id);
  await parts.relay.idle();
  return ids;
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`);

async function startWorker(slots = SLOTS, others = ''): Promise<void> {
  const env = { ...parts.config.env, MUSTER_QUEUES: `tasks=${slots}${others}` };
  worker = createWorkerService({ ...parts, config: { ...parts.config, env } });
  await worker.start();
}

const statusOf = async (id = ''): Promise<string | undefined> => (await readState(parts.ledger, 'default', id))?.status;

async function untilStatus(ids: readonly string[], status: string): Promise<void> {
  for (const id of ids) {
    await waitFor(async () => (await statusOf(id)) === status, { deadlineMs: 20_000, what: `${id} to be ${status}` });
  }
}

const gate = (input: string): PromiseWithResolvers<void> => {
  const held = Promise.withResolvers<void>();
  gates.set(input, held);
  return held;
};

describe('a worker with much to do', () => {
  it('runs all of it in order, most of it without BullMQ', async () => {
    const ids = await submit(...numbers(200));
    await startWorker();
    await untilStatus(ids, 'completed');
    expect(starts.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers(200));
    // Claimed in order: what an attempt reads before its agent starts may take one slot longer than the other.
    const claimedAt = (await readStates(parts.ledger, 'default', ids)).map((state) => state?.startedAt ?? 0);
    expect(claimedAt).toEqual(claimedAt.toSorted((one, other) => one - other));
    const { completed = 0 } = await tickets.getJobCounts('completed');
    // What was out before its first slot was free, and what was let out while the other slots waited.
    expect(completed).toBeLessThan(100);
    expect(await parts.redis.zcard(parts.keys.shard(0).outbox)).toBe(0);
    expect(await parts.redis.zcard(parts.keys.shard(0).window)).toBe(0);
  });

  it('fills its idle slots from the ledger, once BullMQ has no more tickets', async () => {
    const held = numbers(50).map((input) => gate(input));
    const ids = await submit(...numbers(50));
    await startWorker(MANY_SLOTS);
    await waitFor(() => starts.length === MANY_SLOTS, { deadlineMs: 10_000, what: 'every slot to be used' });
    // The others may have to poll BullMQ once more, which wakes them.
    const { active = 0, completed = 0 } = await tickets.getJobCounts('active', 'completed');
    expect(active + completed).toBeLessThan(MANY_SLOTS / 2);
    for (const { resolve } of held) resolve();
    await untilStatus(ids, 'completed');
    expect(starts.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers(50));
  });

  it("starts what a tenant's cap holds back as soon as it has room, without BullMQ", async () => {
    await parts.close();
    parts = await openTestParts({
      redisUrl: url,
      settings: { agents: { work: { kind: 'function', run: agent } }, limits: { tenants: { default: { running: 1 } } } },
      env: { MUSTER_QUEUES: `tasks=${SLOTS},background=1` },
    });
    tickets = parts.queues.get(0, 'tasks');
    const ids = await submit(...numbers(20));
    const low = await acceptTask(parts, { tenant: 'default', agent: 'work', input: 'low', priority: 1 });
    await startWorker(SLOTS, ',background=1');
    await untilStatus([...ids, low.id], 'completed');
    expect(starts).toEqual([...numbers(20), 'low']);
    // The first had its ticket at acceptance; BullMQ has none for the second, or learns so once that is out.
    const { completed = 0 } = await tickets.getJobCounts('completed');
    expect(completed).toBeLessThan(5);
    const { completed: lowCompleted = 0 } = await parts.queues.get(0, 'background').getJobCounts('completed');
    expect(lowCompleted).toBe(0);
  });

  it('runs a better task that comes meanwhile next', async () => {
    const first = gate('0');
    const second = gate('1');
    await submit(...numbers(50));
    await startWorker();
    await waitFor(() => starts.length === SLOTS, { deadlineMs: 10_000, what: 'both slots to be used' });
    await acceptTask(parts, { tenant: 'default', agent: 'work', input: 'urgent', priority: 9 });
    await parts.relay.idle();
    first.resolve();
    second.resolve();
    await waitFor(() => starts.length > SLOTS + 1, { deadlineMs: 10_000, what: 'the next starts' });
    expect(starts.slice(SLOTS, SLOTS + 2)).toContain('urgent');
  });

  it('runs mixed priorities by rank, most of them without BullMQ', async () => {
    const ids: string[] = [];
    for (const n of numbers(150)) {
      const priority = [3, 5, 8][Number(n) % 3] ?? 5;
      ids.push((await acceptTask(parts, { tenant: 'default', agent: 'work', input: `${priority}`, priority })).id);
    }
    await parts.relay.idle();
    await startWorker();
    await untilStatus(ids, 'completed');
    // Slots work side by side, so that as many starts may change places.
    expect(starts.slice(0, starts.lastIndexOf('8')).filter((priority) => priority !== '8').length).toBeLessThanOrEqual(SLOTS);
    expect(starts.slice(0, starts.lastIndexOf('5')).filter((priority) => priority === '3').length).toBeLessThanOrEqual(SLOTS);
    const { completed = 0 } = await tickets.getJobCounts('completed');
    expect(completed).toBeLessThan(75);
    expect(await parts.redis.zcard(parts.keys.shard(0).window)).toBe(0);
  });

  it('starts nothing while the queue is paused, and all of it afterwards', async () => {
    const held = gate('10');
    const other = gate('11');
    const ids = await submit(...numbers(100));
    await startWorker();
    await waitFor(() => starts.includes('10') && starts.includes('11'), { deadlineMs: 10_000, what: 'the tasks that are held' });
    await tickets.pause();
    held.resolve();
    other.resolve();
    await untilStatus(ids.slice(0, 12), 'completed');
    expect(starts.length).toBe(12);
    await tickets.resume();
    await untilStatus(ids, 'completed');
    // Of two slots one may start its agent before the other, and while one polls BullMQ for a ticket that is out, the other goes on.
    expect(Math.max(...starts.map((input, position) => Math.abs(Number(input) - position)))).toBeLessThan(10);
  });

  it('lists a task that failed for good on the board', async () => {
    const ids = await submit(...numbers(60), 'fail', ...numbers(5));
    await startWorker();
    const failed = ids[60] ?? '';
    await untilStatus([failed], 'permanently_failed');
    const job = await waitFor(async () => (await tickets.getFailed())[0] ?? null, { deadlineMs: 10_000, what: 'the ticket on the board' });
    expect([job.id, job.failedReason]).toEqual([failed, 'INVALID_INPUT: it cannot be done']);
  });

  it('hands back what it took when it ends, without costing an attempt', async () => {
    gate('30');
    gate('31');
    const ids = await submit(...numbers(60));
    await startWorker();
    await waitFor(() => starts.includes('30') && starts.includes('31'), { deadlineMs: 10_000, what: 'the tasks that are held' });
    await worker.stop(500);
    await parts.relay.idle();
    expect(await readState(parts.ledger, 'default', ids[30] ?? '')).toMatchObject({ status: 'queued', spent: 0 });
    gates.clear();
    await startWorker();
    await untilStatus(ids, 'completed');
    expect(starts.filter((input) => input === '30').length).toBe(2);
  });
});
