import { afterEach, describe, expect, it } from 'vitest';
import type { TaskQueue } from '#shared/config/sources.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { openJobSource } from '#shared/queue/consumer/job-source.ts';
import type { HandleTicket } from '#shared/queue/slots/run-ticket.ts';
import { ForeignAgents, noteAgents } from '#shared/queue/registry/foreign-agents.ts';
import { SlotWorker } from '#shared/queue/slots/slot-worker.ts';
import type { TicketResult } from '#shared/queue/slots/ticket-result.ts';
import { systemClock } from '#shared/time/clock.ts';
import { noFailure } from '../../../support/open-test-parts.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const TENANT = 'default';
const parts = await useEmptyParts({
  agents: { echo: { kind: 'echo' } },
  queues: { webhooks: { slots: 1, limiter: { max: 2, durationMs: 1500 } } },
  dispatch: { lookAhead: 2 },
});
const DONE = { kind: 'completed', output: 'done', result: null, usage: null } as const;
const DEADLINE = { deadlineMs: 10_000 };

const workers: SlotWorker[] = [];
const closing: (() => void)[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(1000)));
  for (const close of closing.splice(0)) close();
});

async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...request });
  await parts.relay.idle();
  return id;
}

interface Run {
  id: string;
  queue: TaskQueue;
  end: (result?: TicketResult) => void;
}

/** A worker whose attempts run until they are ended, and those that it started, in their order. */
function work({ slots = 2, queues = ['tasks'] as TaskQueue[], own = ['echo'] } = {}): { worker: SlotWorker; runs: Run[] } {
  const runs: Run[] = [];
  const source = openJobSource({ ...parts, fail: noFailure }, 'test');
  const handle: HandleTicket = async ({ task }, { claimed }, queue) => {
    const ended = Promise.withResolvers<TicketResult | undefined>();
    runs.push({ id: task, queue, end: ended.resolve });
    const result = await ended.promise;
    if (!claimed) throw new Error(`The task ${task} was not started`);
    const { body, state } = claimed;
    const ref = { tenant: body.tenant, id: body.id, token: state.token, lane: state.lane ?? null };
    if (result?.kind !== 'returned') await settleAttempt(parts.ledger, ref, DONE);
    return result ?? { kind: 'done', note: 'completed', ended: `${ref.tenant}/${ref.id}/${ref.token}` };
  };
  const worker = new SlotWorker({
    ledger: parts.ledger,
    relay: parts.relay,
    source,
    worker: `w${workers.length}`,
    policy: {
      slots,
      reserved: 0,
      people: 0,
      weights: new Map(queues.map((queue) => [queue, 1])),
      shares: { high: 40, normal: 35, low: 15 },
      lowAgeMs: 60_000,
    },
    apart: new Set(),
    foreign: new ForeignAgents({ ...parts, own }),
    isolation: () => undefined,
    handle,
    clock: systemClock,
  });
  workers.push(worker);
  closing.push(() => source.close());
  worker.start();
  return { worker, runs };
}

const jobState = async (id: string, queue: TaskQueue = 'tasks'): Promise<string> => await parts.queues.get(0, queue).getJobState(id);
const findEcho = (): Promise<{ kind: 'echo' }> => Promise.resolve({ kind: 'echo' });
const jobsLeft = async (): Promise<number> => {
  const queues = ['tasks', 'chat', 'critical'] as const;
  const counts = await Promise.all(queues.map((queue) => parts.queues.get(0, queue).getJobCounts('prioritized', 'waiting', 'active')));
  return counts.reduce((sum, { prioritized = 0, waiting = 0, active = 0 }) => sum + prioritized + waiting + active, 0);
};
const statusOf = async (id: string): Promise<string | undefined> => (await readTask(parts.ledger, TENANT, id))?.state.status;
const started = async (runs: readonly Run[], count: number): Promise<string[]> => {
  await waitFor(() => runs.length >= count, { ...DEADLINE, what: `${count} starts` });
  return runs.map(({ id }) => id);
};

const firstLook = async (): Promise<void> =>
  void (await waitFor(async () => (await parts.redis.hlen(`${parts.keys.shard(0).jobs}:idle`)) > 0, { ...DEADLINE, what: 'a claim' }));

/** Submits tasks until one starts under its job: idle slots also look every second, and a look at that moment starts one without. */
async function startUnderJob(runs: readonly Run[]): Promise<string> {
  for (let tries = 1; tries <= 5; tries += 1) {
    const id = await submit();
    await started(runs, tries);
    if ((await jobState(id)) === 'active') return id;
    runs.at(-1)?.end();
  }
  throw new Error('Of five tasks none started under its job');
}

describe('the slots of a worker', () => {
  it('run a task under its job in BullMQ while they are idle, which is completed with it', async () => {
    const { runs } = work();
    await firstLook();
    const id = await startUnderJob(runs);
    runs.at(-1)?.end();
    await waitFor(async () => (await jobState(id)) === 'completed', { ...DEADLINE, what: 'the job to be completed' });
    expect((await parts.queues.get(0, 'tasks').getJob(id))?.returnvalue).toBe('completed');
  });

  it('take the best of all queues as they become free, and leave no job of what they started', async () => {
    const { runs } = work({ slots: 1, queues: ['tasks', 'chat', 'critical'] });
    const first = await submit();
    await started(runs, 1);
    const [plain, high, critical] = [await submit(), await submit({ priority: 9 }), await submit({ priority: 10 })];
    const chat = await submit({ source: 'chat', priority: 9 });
    const order = [first];
    for (let at = 0; at < 5; at += 1) {
      runs[at]?.end();
      if (at < 4) order.push((await started(runs, at + 2)).at(-1) ?? '');
    }
    expect(order.slice(0, 2)).toEqual([first, critical]);
    expect(new Set(order.slice(2, 4))).toEqual(new Set([high, chat]));
    expect(order[4]).toBe(plain);
    await waitFor(async () => (await jobsLeft()) === 0, { ...DEADLINE, what: 'no job to be left' });
  });

  it('find within about a second what no job tells them of', async () => {
    const { runs } = work();
    const id = await submit();
    await started(runs, 1);
    runs[0]?.end();
    await waitFor(async () => (await statusOf(id)) === 'completed', { ...DEADLINE, what: 'its end' });
    // As if the process died that should add the job.
    const intake = { ...parts, relay: { add: () => undefined } as unknown as typeof parts.relay };
    const { id: silent } = await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x' });
    expect((await started(runs, 2))[1]).toBe(silent);
    runs[1]?.end();
  });

  it('start nothing of a paused queue, and go on once it is resumed', async () => {
    const { runs } = work({ queues: ['tasks', 'chat'] });
    await parts.queues.get(0, 'tasks').pause();
    const held = await submit();
    const other = await submit({ source: 'chat' });
    expect(await started(runs, 1)).toEqual([other]);
    await parts.queues.get(0, 'tasks').resume();
    expect(await started(runs, 2)).toEqual([other, held]);
    for (const { end } of runs) end();
  });

  it('start as many of a limited queue as its limiter allows, and the next when it allows more', async () => {
    const { runs } = work({ slots: 4, queues: ['webhooks'] });
    const ids = [];
    for (let count = 0; count < 3; count += 1) ids.push(await submit({ source: 'webhook' }));
    expect(new Set(await started(runs, 2))).toEqual(new Set(ids.slice(0, 2)));
    const closed = Date.now();
    expect((await started(runs, 3)).at(-1)).toBe(ids[2]);
    expect(Date.now() - closed).toBeGreaterThan(500);
    for (const { end } of runs) end();
  });

  it('list a task that failed for good among the failed jobs, whether it had a job or not', async () => {
    const { runs } = work({ slots: 1 });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await submit());
    for (let at = 0; at < 5; at += 1) {
      await started(runs, at + 1);
      runs[at]?.end({ kind: 'failed', message: 'INVALID_INPUT: no prompt' });
    }
    const states = async (): Promise<string[]> => [...new Set(await Promise.all(ids.map((id) => jobState(id))))];
    await expect.poll(states, { timeout: 10_000 }).toEqual(['failed']);
  });

  it('are as many as were given, whatever wakes them', async () => {
    const { runs } = work({ slots: 3 });
    const ids = await Promise.all(Array.from({ length: 12 }, () => submit()));
    let atOnce = 0;
    for (let ended = 0; ended < 12; ended += 1) {
      await started(runs, Math.min(12, ended + 3));
      atOnce = Math.max(atOnce, runs.length - ended);
      runs[ended]?.end();
    }
    expect(atOnce).toBe(3);
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(ids));
  });

  it('leave the tasks of an agent that another configuration has and theirs lacks, and start those behind', async () => {
    await noteAgents(parts, 'new', { agents: ['echo', 'newer'] });
    const old = work({ slots: 1 });
    await firstLook();
    // It has read by now what others have.
    const { id: newer } = await acceptTask({ ...parts, findAgent: findEcho }, { tenant: TENANT, agent: 'newer', input: 'x', priority: 9 });
    const plain = await submit();
    expect(await started(old.runs, 1)).toEqual([plain]);
    const fresh = work({ slots: 1, own: ['echo', 'newer'] });
    expect(await started(fresh.runs, 1)).toEqual([newer]);
    for (const { end } of [...old.runs, ...fresh.runs]) end();
  });

  it('claim nothing once they are quiet, and others get what waits', async () => {
    const { worker, runs } = work({ slots: 1 });
    const first = await submit();
    await started(runs, 1);
    await worker.quiet();
    const second = await submit();
    runs[0]?.end();
    const other = work({ slots: 1 });
    expect(await started(other.runs, 1)).toEqual([second]);
    expect(runs.map(({ id }) => id)).toEqual([first]);
    other.runs[0]?.end();
  });
});
