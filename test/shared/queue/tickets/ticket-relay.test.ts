import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { parseOutboxEntry } from '#shared/ledger/grants/outbox.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { type Ticket, parseTicketId, ticketOfState } from '#shared/queue/tickets/ticket.ts';
import { aTask } from '../../ledger/support/test-ledger.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { Reclaimer } from '../../../../services/worker/chores/reclaimer.ts';
import { startRedis, type RedisServer } from '../../../support/redis/start-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';

let server: RedisServer;
let parts: Parts;

beforeEach(async () => {
  server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  parts = await openTestParts({
    redisUrl: server.url,
    settings: {
      agents: { echo: { kind: 'echo' } },
      worker: { outboxSweepMs: 100, orphanCheckIntervalMs: 100 },
      // All of a test's tickets are out at once.
      dispatch: { lookAhead: 20_000 },
    },
  });
});

afterEach(async () => {
  await parts.close();
  await server.stop();
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', ...request })).id;
const firstTicket = (task: string): Ticket => ({
  tenant: 'default',
  task,
  number: 1,
  entry: `default/${task}.1`,
  agent: 'echo',
  lane: null,
  queue: 'tasks',
  priority: 5,
  maxAttempts: 3,
});
const outbox = async (): Promise<string[]> => await parts.redis.zrange(parts.keys.shard(0).outbox, '0', '-1');
/** Ids of the tickets in every queue. */
const tickets = async (): Promise<string[]> => {
  const jobs = await Promise.all(parts.queues.all().map(({ queue }) => queue.getJobs(['prioritized', 'delayed', 'waiting'])));
  return jobs.flat().map((job) => `${job.id}`);
};
/** Runs the worker's sweep until it has added what is in the outbox. */
const sweep = async (): Promise<void> => {
  const reclaimer = new Reclaimer({ ...parts, onLost: () => undefined });
  const isEmpty = async (): Promise<boolean> => {
    await reclaimer.reissueTickets();
    return (await outbox()).length === 0;
  };
  await waitFor(isEmpty, { deadlineMs: 5000, what: 'the sweep' });
  await parts.relay.idle();
};
const canBeClaimedOnce = async (id: string): Promise<void> => {
  const place = { tenant: 'default', id, lane: null };
  expect([(await claimTask(parts.ledger, place, 'w')).kind, (await claimTask(parts.ledger, place, 'w')).kind]).toEqual(['claimed', 'busy']);
};

describe('the relay', () => {
  it('adds every ticket to its queue and clears the outbox', async () => {
    const wishes: Partial<AcceptRequest>[] = [{}, { source: 'chat' }, { source: 'webhook' }, { priority: 'low' }, { priority: 'critical' }];
    const ids = await Promise.all(Array.from({ length: 500 }, (_, n) => submit(wishes[n % wishes.length])));
    await parts.relay.idle();
    expect((await tickets()).toSorted()).toEqual(ids.toSorted());
    expect(await outbox()).toEqual([]);
    const counts = await Promise.all(
      ['tasks', 'chat', 'webhooks', 'background', 'critical'].map((name) =>
        parts.queues.get(0, name as 'tasks').getJobCountByTypes('prioritized'),
      ),
    );
    expect(counts).toEqual([100, 100, 100, 100, 100]);
  });

  it('has no ticket of a task that is for later', async () => {
    await submit({ scheduledFor: new Date(Date.now() + 60_000).toISOString() });
    await parts.relay.idle();
    expect(await parts.queues.get(0, 'tasks').getJobCounts()).toMatchObject({ delayed: 0, prioritized: 0, waiting: 0 });
    expect(await outbox()).toEqual([]);
  });

  it('clears an entry only when its last ticket was added', async () => {
    const ids = await Promise.all([submit(), submit({ source: 'chat' }), submit()]);
    await parts.relay.idle();
    const entry = `default/${ids.map((id) => `${id}.9`).join(',')}`;
    await parts.redis.zadd(parts.keys.shard(0).outbox, 1, entry);
    for (const [position, id] of ids.entries()) {
      const state = (await readTask(parts.ledger, 'default', id))?.state;
      if (state) parts.relay.add({ ...ticketOfState('default', id, { ...state, ticket: 9 }), entry });
      await parts.relay.idle();
      expect(await outbox()).toEqual(position === 2 ? [] : [entry]);
    }
  });

  it('also adds tickets that found no room, once it has added the others', async () => {
    const tasks = Array.from({ length: 12_000 }, () => aTask({ tenant: 'default' }));
    const owed: Ticket[] = [];
    for (let from = 0; from < tasks.length; from += 500) {
      const some = tasks.slice(from, from + 500);
      const answers = await Promise.all(some.map((task) => acceptNewTask(parts.ledger, task)));
      for (const [position, answer] of answers.entries()) {
        if (answer.kind === 'accepted') owed.push({ ...firstTicket(some[position]?.body.id ?? ''), entry: `${answer.entry}` });
      }
    }
    for (const ticket of owed) parts.relay.add(ticket);
    await parts.relay.idle();
    expect(await outbox()).toEqual([]);
    expect(await parts.queues.get(0, 'tasks').getPrioritizedCount()).toBe(tasks.length);
  });

  it('adds a ticket once, however often it is added here', async () => {
    const id = await submit();
    await parts.relay.idle();
    const state = (await readTask(parts.ledger, 'default', id))?.state;
    for (let n = 0; n < 5; n += 1) if (state) parts.relay.add(ticketOfState('default', id, state));
    await parts.relay.idle();
    expect(await tickets()).toEqual([id]);
  });
});

describe('when Redis goes away between accepting and adding the ticket', () => {
  it('leaves the ticket in the outbox, and the sweep adds it', async () => {
    const tasks = Array.from({ length: 20 }, () => aTask({ tenant: 'default' }));
    const answers = await Promise.all(tasks.map((task) => acceptNewTask(parts.ledger, task)));
    const ids = tasks.map(({ body }) => body.id);
    // What was accepted is on the disk.
    await server.kill();
    for (const [position, id] of ids.entries()) {
      const answer = answers[position];
      if (answer?.kind === 'accepted') parts.relay.add({ ...firstTicket(id), entry: `${answer.entry}` });
    }
    await parts.relay.idle();
    await server.restart();
    const owed = await waitFor(outbox, { deadlineMs: 5000, what: 'Redis to answer' });
    expect(owed.flatMap((entry) => parseOutboxEntry(entry).tickets.map(({ task }) => task)).toSorted()).toEqual(ids.toSorted());
    // Some may be in their queues besides: a call that was given up can still arrive.
    await sweep();
    expect(await outbox()).toEqual([]);
    expect(new Set((await tickets()).map((id) => parseTicketId(id).task))).toEqual(new Set(ids));
    for (const id of ids) await canBeClaimedOnce(id);
  });

  it('goes on by itself with what comes after', async () => {
    await submit();
    await server.kill();
    await parts.relay.idle();
    await server.restart();
    const id = await waitFor(() => submit(), { deadlineMs: 5000, what: 'Redis to accept' });
    await parts.relay.idle();
    expect(await tickets()).toContain(id);
  });

  it('adds a ticket once when only the answer was lost', async () => {
    const id = await submit();
    await parts.relay.idle();
    // As if the outbox had not been cleared.
    await parts.redis.zadd(parts.keys.shard(0).outbox, 1, `default/${id}.1`);
    await sweep();
    expect((await tickets()).toSorted()).toEqual([id]);
    await canBeClaimedOnce(id);
  });
});
