import { describe, expect, it } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { MusterError } from '#shared/errors/error-codes.ts';
import { createLedger } from '#shared/ledger/ledger.ts';
import { createLog } from '#shared/log/create-log.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask, type Accepted } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { completedState } from '../../ledger/support/stored-states.ts';

const none = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
const settings: SettingsInput = {
  limits: {
    tenant: none,
    tenants: { strict: { ...none, running: 1, waiting: 1 }, rated: { rates: { webhook: { perMinute: 1, perHour: 1000, burst: 1 } } } },
    backpressure: { warningDepth: 50, criticalDepth: 100 },
  },
};
const parts = await useEmptyParts(settings);

const TENANT = 'acme';
const requestOf = (request: Partial<AcceptRequest> = {}): AcceptRequest => ({ tenant: TENANT, agent: 'echo', input: 'x', ...request });
const many = (count: number, request: Partial<AcceptRequest> = {}): AcceptRequest[] =>
  Array.from({ length: count }, () => requestOf(request));
const past = new Date(Date.now() - 1000).toISOString();

/** What a result says, without what differs from call to call. */
function gist(result: Accepted | Error): unknown {
  if (result instanceof MusterError) return { code: result.code, message: result.message, details: result.details };
  if (result instanceof Error) return result.message;
  const { status, position, outcome, isDuplicate } = result;
  return { status, position, outcome: outcome?.kind ?? null, isDuplicate };
}

async function oneByOne(requests: readonly AcceptRequest[]): Promise<(Accepted | Error)[]> {
  const results: (Accepted | Error)[] = [];
  for (const request of requests) results.push(await acceptTask(parts, request).catch((error: unknown) => error as Error));
  return results;
}

describe('many tasks that are accepted together', () => {
  it.each<[string, AcceptRequest[]]>([
    ['plain', many(3)],
    ['of one session', many(3, { session: 's' })],
    ['of all priorities', [1, 3, 5, 8, 10].map((priority) => requestOf({ priority }))],
    ['with a time', [requestOf({ scheduledFor: new Date(Date.now() + 60_000).toISOString() }), requestOf({ deadline: past }), requestOf()]],
    ['with a mode', [requestOf({ session: 'm', mode: 'queue' }), requestOf()]],
    ['that are not to run', [requestOf({ skip: { reason: 'paused' } }), requestOf()]],
    ['with an unknown agent among them', [requestOf(), requestOf({ agent: 'nobody' }), requestOf({ agent: 'constructor' }), requestOf()]],
    ['with an unknown parent among them', [requestOf(), requestOf({ parentTaskId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' })]],
    ['with what the ledger never takes among them', [requestOf({ requirements: { targetDaemon: 'd' } }), requestOf()]],
    ['over the limit on waiting tasks', many(4, { tenant: 'strict' })],
    ['over a rate', many(3, { tenant: 'rated', source: 'webhook' })],
    [
      'with keys',
      [...many(2, { idempotencyKey: 'k' }), requestOf({ idempotencyKey: 'k', input: 'y' }), requestOf({ idempotencyKey: 'l' })],
    ],
  ])('%s: have the results of single calls, in their order', async (_what, requests) => {
    const expected = (await oneByOne(requests)).map(gist);
    await parts.relay.idle();
    await parts.redis.flushall();
    const results = await acceptTasks(parts, requests);
    expect(results.map(gist).map(withoutIds)).toEqual(expected.map(withoutIds));
    for (const [place, result] of results.entries()) {
      if (result instanceof Error) continue;
      const task = await readTask(parts.ledger, requests[place]?.tenant ?? '', result.id);
      expect(task?.body.input).toBe(requests[place]?.input);
    }
  });

  it('are all accepted where one call cannot take them all, and get their tickets', async () => {
    const results = await acceptTasks(parts, many(100));
    await parts.relay.idle();
    const ids = results.map((result) => (result instanceof Error ? result.message : result.id));
    expect(new Set(ids).size).toBe(100);
    expect(ids).toEqual(ids.toSorted());
    const tickets = await parts.queues.get(parts.keys.shardOf(TENANT), 'tasks').getPrioritizedCount();
    expect(tickets).toBeGreaterThan(0);
  });

  it('have one line in the log where they differ by their ids only', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await acceptTasks(parts, many(30));
    const requests = [
      ...many(3, { traceparent }),
      requestOf({ traceparent, priority: 8 }),
      requestOf({ traceparent, skip: { reason: 'paused' } }),
    ];
    const ids = (await acceptTasks({ ...parts, log }, requests)).map((result) => (result as Accepted).id);
    const shared = { event: 'task.created', tenant: TENANT, agent: 'echo', trace: '4bf92f3577b34da6a3ce929d0e0e4736' };
    expect(lines).toMatchObject([
      { ...shared, gate: 'turn', count: 3, tasks: ids.slice(0, 3).join(','), ahead: expect.any(Number) },
      { ...shared, task: ids[3], priority: 8, gate: 'turn' },
      { ...shared, task: ids[4], status: 'skipped', reason: 'paused' },
    ]);
  });

  it('are none where none is asked for', async () => {
    expect(await acceptTasks(parts, [])).toEqual([]);
  });

  it('give a repeated request its task when by now it would be refused', async () => {
    const request = requestOf({ idempotencyKey: 'k', agent: 'gone' });
    const agent = { kind: 'echo' } as const;
    const [first] = await acceptTasks({ ...parts, findAgent: () => Promise.resolve(agent) }, [request]);
    const [again, other] = await acceptTasks(parts, [request, requestOf({ agent: 'gone' })]);
    expect(again).toMatchObject({ id: (first as Accepted).id, isDuplicate: true });
    expect(other).toMatchObject({ code: 'agent.unknown' });
  });

  it('are refused under pressure where they can wait, and no others', async () => {
    await acceptTasks(parts, many(100));
    const results = await acceptTasks(parts, [...many(2, { priority: 1 }), requestOf(), requestOf({ source: 'proactive', sourceId: 'p' })]);
    const codes = results.map((result) => (result instanceof MusterError ? result.code : null));
    expect(codes).toEqual(['limit.pressure', 'limit.pressure', null, 'limit.pressure']);
  });

  it('are refused over the rate of the fleet', async () => {
    await parts.fleetLimits.change({ rates: { all: { perMinute: 1, perHour: 1000, burst: 2 } } }, null);
    const results = await acceptTasks(parts, many(5));
    await parts.fleetLimits.reset();
    const codes = results.map((result) => (result instanceof MusterError ? result.code : null));
    expect(codes).toEqual([null, null, 'limit.rate', 'limit.rate', 'limit.rate']);
  });

  it('have each an estimate by what is before it, at the pace of the last tasks', async () => {
    const ids = (await acceptTasks(parts, many(3))).map((result) => (result as Accepted).id);
    await parts.relay.idle();
    // As if the second had waited for 2 s while the first ran, and the third had come long after.
    const ends = [completedState(1000, 1000, 1500), completedState(1000, 3000, 3500), completedState(900000, 900000, 900500)];
    for (const [position, id] of ids.entries()) {
      await parts.redis.hset(parts.keys.tenant(TENANT).states, id, ends[position] ?? '');
      await parts.redis.zadd(parts.keys.tenant(TENANT).index, 0, `status=completed/${id}`);
    }
    const inFront = ids.length;
    // Of another process, which has read nothing yet, and whose own tickets are not among those in front.
    const relay = { add: () => undefined } as unknown as Parts['relay'];
    const intake = { ...parts, ledger: createLedger({ ...parts.ledger }), queues: { ...parts.queues }, relay };
    const results = await acceptTasks(intake, many(2));
    expect(results.map((result) => (result as Accepted).estimatedStartMs)).toEqual([inFront * 1000, (inFront + 1) * 1000]);
  });
});

/** Ids differ; that there is one does not. */
function withoutIds(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result).replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID'));
}
