import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { MusterError } from '#shared/errors/error-codes.ts';
import { createLedger, type Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { acceptTask, type Accepted } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { REFUSAL_HELPS } from '#shared/queue/accept/refusal-helps.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import type { Task } from '#shared/tasks/task.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { completedState, storedState } from '../../ledger/support/stored-states.ts';

const TENANT = 'acme';
const RATE = { perMinute: 60, perHour: 1000, burst: 1 };
const settings: SettingsInput = {
  agents: {
    echo: { kind: 'echo' },
    slow: { kind: 'echo', timeoutMs: 77_000, maxAttempts: 9 },
    shared: { kind: 'echo', lane: 'printer' },
    capped: { kind: 'echo', maxRunning: 2, lane: 'printer' },
    talker: { kind: 'function', run: () => Promise.resolve(''), takesInput: true },
    silent: { kind: 'function', run: () => Promise.resolve('') },
    program: { kind: 'command', command: ['true'], takesInput: true },
    model: { kind: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1/' },
    web: { kind: 'http', url: 'http://127.0.0.1:1/' },
    desk: { kind: 'daemon', capabilities: ['browser'], takesInput: true },
  },
  lanes: { printer: { limit: 2 }, background: { limit: 1 } },
  retries: { proactive: { lane: 'yield', sharedLane: 'background' } },
  tasks: { maxInputBytes: 1000, maxContextBytes: 500 },
  limits: {
    tenant: { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} },
    tenants: {
      strict: { running: 1, waiting: 1, runningByClass: {}, runningLow: null, rates: {} },
      picky: { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {}, runningByAgent: { echo: 1, capped: 3 } },
      rated: { rates: { webhook: RATE } },
    },
    backpressure: { warningDepth: 3, criticalDepth: 5, shed: false },
  },
};

const server = await useRedis();
const parts = closeAfterTests(await openTestParts({ redisUrl: server.url, settings }));
afterEach(async () => {
  await parts.relay.idle();
  await parts.redis.flushall();
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<Accepted> =>
  await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', ...request });
const stored = async (request: Partial<AcceptRequest> = {}): Promise<Task> => {
  const { id } = await submit(request);
  return (await readTask(parts.ledger, request.tenant ?? TENANT, id)) as Task;
};
const refusal = async (request: Partial<AcceptRequest>): Promise<MusterError> => {
  const error = await submit(request).then(
    () => null,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(MusterError);
  expect(await parts.redis.keys('*task:*')).toEqual([]);
  return error as MusterError;
};

describe('what a task has that a request did not say', () => {
  it('is an id, the source api, priority 5 and the retries of its source', async () => {
    const { body, state } = await stored();
    expect(body).toMatchObject({
      source: 'api',
      session: null,
      scheduledFor: null,
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-/) as string,
    });
    expect(body.execution).toEqual({ timeoutMs: 300_000, maxAttempts: 3, retryDelayMs: 2000, retryBackoff: 'exponential' });
    expect(state).toMatchObject({ priority: 5, queue: 'tasks', class: 'u1', timeoutMs: 300_000, maxAttempts: 3 });
  });

  it.each([
    [{ source: 'webhook' }, { priority: 5, queue: 'webhooks', class: 'w1' }],
    [
      { source: 'webhook', context: { event_type: 'payment_intent.payment_failed' } },
      { priority: 8, queue: 'webhooks', class: 'w1' },
    ],
    [{ source: 'schedule' }, { priority: 10, queue: 'schedules', class: 's1' }],
    [
      { source: 'chat', channel: 'desktop' },
      { priority: 8, queue: 'chat', class: 'u1' },
    ],
    [
      { source: 'proactive', priority: 'low' },
      { priority: 1, queue: 'background', class: 'p0' },
    ],
    [
      { source: 'webhook', priority: 'critical' },
      { priority: 10, queue: 'critical', class: 'w1' },
    ],
    [{ priority: 1 }, { priority: 1, queue: 'background', class: 'u0' }],
    [
      { agent: 'desk', priority: 'critical' },
      { priority: 10, queue: 'remote', class: 'u1', takesInput: true },
    ],
    [
      { requirements: { memoryMb: 512, targetDaemon: 'laptop' }, priority: 'low' },
      { priority: 1, queue: 'remote' },
    ],
    [{ requirements: { targetDaemon: 'laptop' } }, { queue: 'remote' }],
    [{ requirements: { memoryMb: 512, cpuIntensive: true } }, { queue: 'tasks' }],
  ] as const)('follows from %o', async (request, state) => {
    expect((await stored(request)).state).toMatchObject(state);
  });

  it.each(['webhook', 'schedule'] as const)('is a backoff in minutes when it comes from a %s', async (source) => {
    expect((await stored({ source })).body.execution.retryDelayMs).toBe(60_000);
  });

  it('requires what its agent of kind daemon needs, besides its own', async () => {
    const { body } = await stored({ agent: 'desk', requirements: { capabilities: ['gpu', 'browser'], memoryMb: 4 } });
    expect(body.requirements).toEqual({ capabilities: ['browser', 'gpu'], memoryMb: 4 });
  });

  it('is its agent’s, unless the request has its own', async () => {
    expect((await stored({ agent: 'slow' })).body.execution).toMatchObject({ timeoutMs: 77_000, maxAttempts: 9 });
    expect((await stored({ agent: 'slow', execution: { timeoutMs: 5 } })).body.execution).toMatchObject({ timeoutMs: 5, maxAttempts: 9 });
  });

  it('is a lane of one when it has a session', async () => {
    expect((await stored({ session: 's', order: 17 })).state).toMatchObject({ lane: 'session:s', laneLimit: 1, order: '17' });
  });

  it('is a lane of its agent when so many of its tasks may run at once, by its tenant or by itself', async () => {
    const printer = { name: 'printer', limit: 2 };
    expect((await stored({ agent: 'capped' })).state.sharedLanes).toEqual([printer, { name: 'agent:capped', limit: 2 }]);
    expect((await stored({ agent: 'capped', tenant: 'picky' })).state.sharedLanes).toEqual([printer, { name: 'agent:capped', limit: 3 }]);
    expect((await stored({ tenant: 'picky' })).state.sharedLanes).toEqual([{ name: 'agent:echo', limit: 1 }]);
    expect((await stored()).state.sharedLanes).toBeUndefined();
  });

  it('is its session’s or its producer’s, and it shares its agent’s and its source’s besides, with the limits of the configuration', async () => {
    const printer = { name: 'printer', limit: 2 };
    const background = { name: 'background', limit: 1 };
    expect((await stored({ agent: 'shared' })).state).toMatchObject({ sharedLanes: [printer] });
    expect((await stored({ agent: 'shared', session: 's' })).state).toMatchObject({ lane: 'session:s', sharedLanes: [printer] });
    expect((await stored({ source: 'proactive' })).state).toMatchObject({ sharedLanes: [background] });
    expect((await stored({ agent: 'shared', source: 'proactive' })).state).toMatchObject({ sharedLanes: [printer, background] });
    const lane = { name: 'schedule:daily', limit: 1 };
    expect((await stored({ agent: 'shared', lane })).state).toMatchObject({ lane: 'schedule:daily', laneLimit: 1, sharedLanes: [printer] });
    expect((await stored({})).state).not.toMatchObject({ lane: expect.anything() });
  });

  it('is taking input when its agent does', async () => {
    expect((await stored()).state.takesInput).toBe(true);
    expect((await stored({ context: { noInput: true } })).state.takesInput).toBeUndefined();
    const takes = ['talker', 'program', 'model', 'silent', 'web'].map(async (agent) => (await stored({ agent })).state.takesInput ?? false);
    expect(await Promise.all(takes)).toEqual([true, true, true, false, false]);
  });

  it('yields its lane during a retry by its source’s policy', async () => {
    expect((await stored({ source: 'proactive' })).state.yields).toBe(true);
    expect((await stored()).state.yields).toBeUndefined();
  });

  it('is telling of its end whoever it names', async () => {
    const reply = { platform: 'telegram', thread: '{}' };
    expect((await stored({ reply, callbackUrl: 'http://127.0.0.1/', scheduleId: 'daily' })).state.tell).toEqual([
      'reply',
      'callback',
      'run',
    ]);
    expect((await stored()).state.tell).toBeUndefined();
  });

  it('is critical when its deadline is near for its estimated duration and it has no priority of its own', async () => {
    const deadline = new Date(Date.now() + 400_000).toISOString();
    const request = { source: 'proactive', deadline } as const;
    expect((await stored(request)).state).toMatchObject({ priority: 10, queue: 'critical' });
    expect((await stored({ ...request, requirements: { estimatedDurationMs: 200_000 } })).state).toMatchObject({
      priority: 8,
      queue: 'tasks',
    });
    expect((await stored({ ...request, requirements: { estimatedDurationMs: 10_000 } })).state).toMatchObject({ priority: 5 });
    expect((await stored({ ...request, priority: 'low' })).state).toMatchObject({ priority: 1, queue: 'background' });
  });

  it('is a priority below its parent’s, and the source delegation', async () => {
    const { id } = await submit({ priority: 8 });
    expect(await stored({ parentTaskId: id })).toMatchObject({
      body: { source: 'delegation', parentTaskId: id },
      state: { priority: 7, class: 'd1' },
    });
    const low = await submit({ priority: 2 });
    expect((await stored({ parentTaskId: low.id })).state).toMatchObject({ priority: 1, queue: 'background', class: 'd0' });
  });

  it('is the caller’s trace', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect((await stored({ traceparent })).body.traceparent.slice(3, 35)).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  });
});

describe('a request is refused', () => {
  it('for an unknown agent', async () => {
    expect(await refusal({ agent: 'nobody' })).toMatchObject({ code: 'agent.unknown', details: { agent: 'nobody' } });
  });

  it.each<[string, Partial<AcceptRequest>]>([
    ['input', { input: 'ä'.repeat(501) }],
    ['context', { context: { text: 'x'.repeat(500) } }],
    ['metadata', { metadata: { text: 'ä'.repeat(250) } }],
    ['context and metadata together', { context: { text: 'x'.repeat(300) }, metadata: { text: 'x'.repeat(300) } }],
  ])('for more bytes than allowed: %s', async (_what, request) => {
    expect(await refusal(request)).toMatchObject({ code: 'request.too-large' });
  });

  it('for a context that is deeper than anybody needs', async () => {
    const context = JSON.parse('{"a":'.repeat(101) + '1' + '}'.repeat(101)) as Record<string, never>;
    expect(await refusal({ context })).toMatchObject({ code: 'request.invalid', details: { maxLevels: 100 } });
  });

  it.each(['nowhere', 'constructor'])('for the lane %s, that its agent names and the configuration lacks', async (lane) => {
    const agent = { kind: 'echo', lane } as const;
    const intake = { ...parts, findAgent: () => Promise.resolve(agent) };
    await expect(acceptTask(intake, { tenant: TENANT, agent: 'stray', input: 'x' })).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('for a target that it excludes', async () => {
    const requirements = { targetDaemon: 'laptop', excludedDaemons: ['desk', 'laptop'] };
    expect(await refusal({ requirements })).toMatchObject({ code: 'request.invalid', details: { targetDaemon: 'laptop' } });
  });

  it('for a deadline that is past', async () => {
    expect(await refusal({ deadline: new Date(Date.now() - 1).toISOString() })).toMatchObject({ code: 'request.invalid' });
  });

  it('for a parent that is not there, or another tenant’s', async () => {
    expect(await refusal({ parentTaskId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' })).toMatchObject({ code: 'task.not-found' });
    const { id } = await submit({ tenant: 'other' });
    await expect(submit({ parentTaskId: id })).rejects.toMatchObject({ code: 'task.not-found' });
  });

  it('over its tenant’s cap on waiting tasks, with a time to come back', async () => {
    await submit({ tenant: 'strict' });
    await submit({ tenant: 'strict' });
    await expect(submit({ tenant: 'strict' })).rejects.toMatchObject({
      code: 'limit.waiting',
      details: { waiting: 1, helps: REFUSAL_HELPS.waiting },
      retryAfterMs: 5000,
    });
  });

  it('over its tenant’s rate, with the time to come back', async () => {
    const request = { tenant: 'rated', source: 'webhook' } as const;
    await submit(request);
    const error = await submit(request).catch((problem: unknown) => problem as MusterError);
    expect(error).toMatchObject({ code: 'limit.rate', details: { scope: 'webhook', rate: RATE, helps: REFUSAL_HELPS.rate } });
    expect((error as MusterError).retryAfterMs).toBeGreaterThan(500);
    expect((error as MusterError).retryAfterMs).toBeLessThanOrEqual(1000);
  });

  it('for as many bytes as allowed: not', async () => {
    expect((await submit({ input: 'x'.repeat(1000) })).status).toBe('queued');
  });
});

describe('the answer', () => {
  it('has the position of the task', async () => {
    expect(await submit({ session: 's' })).toMatchObject({ status: 'queued', position: 0, isDuplicate: false, pressure: null });
    expect(await submit({ session: 's' })).toMatchObject({ status: 'pending', position: 1, outcome: null });
  });

  it('has the outcome of a message that is not to run', async () => {
    const { id } = await submit({ session: 's' });
    const outcome = { kind: 'rejected', taskId: id, reason: 'another task runs in its lane' };
    const request = { session: 's', mode: 'reject', idempotencyKey: 'm' } as const;
    expect(await submit(request)).toMatchObject({ status: 'cancelled', outcome, estimatedStartMs: null, isDuplicate: false });
    expect(await submit(request)).toMatchObject({ status: 'cancelled', outcome, isDuplicate: true });
    expect(await submit({ session: 's', skip: { reason: 'paused' } })).toMatchObject({
      status: 'skipped',
      outcome: { kind: 'skipped', taskId: null, reason: 'paused' },
    });
  });

  it('advises a producer to slow down, and to stop', async () => {
    const levels = [];
    for (let n = 0; n < 6; n += 1) levels.push((await submit()).pressure?.level ?? null);
    expect(levels).toEqual([null, null, 'warning', 'warning', 'critical', 'critical']);
  });

  it('has the start of a task for later', async () => {
    const { estimatedStartMs } = await submit({ scheduledFor: new Date(Date.now() + 60_000).toISOString() });
    expect(estimatedStartMs).toBeGreaterThan(59_000);
    expect(estimatedStartMs).toBeLessThanOrEqual(60_000);
  });

  it('counts the tickets in front, at the pace of the last tasks while others waited', async () => {
    const ids = [(await submit()).id, (await submit()).id, (await submit()).id].toSorted();
    await parts.relay.idle();
    // As if the second had waited for 2 s while the first ran, and the third had come long after.
    const ends = [completedState(1000, 1000, 1500), completedState(1000, 3000, 3500), completedState(900000, 900000, 900500)];
    for (const [position, id] of ids.entries()) {
      await parts.redis.hset(parts.keys.tenant(TENANT).states, id, ends[position] ?? '');
      await parts.redis.zadd(parts.keys.tenant(TENANT).index, 0, `status=completed/${id}`);
    }
    const inFront = await parts.queues.get(0, 'tasks').getPrioritizedCount();
    expect(inFront).toBeGreaterThan(0);
    // Of another process, which has looked at nothing yet.
    const intake = { ...parts, ledger: ledgerOn(parts.redis), queues: { ...parts.queues } };
    const { estimatedStartMs } = await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x' });
    expect(estimatedStartMs).toBe(inFront * 1000);
  });

  it("is no nearer than the tenant's cap lets starts be, because a grant comes only when a task ends", async () => {
    const { states, index } = parts.keys.tenant('strict');
    for (const [place, queuedAt] of [1000, 21_000].entries()) {
      const id = `0000000000000000000000000${place}`;
      const state = { status: 'completed', class: 'u1', createdAt: 1000, queuedAt, startedAt: queuedAt, completedAt: queuedAt + 20_000 };
      await parts.redis.hset(states, id, storedState(state));
      await parts.redis.zadd(index, 0, `status=completed/${id}`);
    }
    await submit({ tenant: 'strict' });
    const intake = { ...parts, ledger: ledgerOn(parts.redis) };
    const { estimatedStartMs } = await acceptTask(intake, { tenant: 'strict', agent: 'echo', input: 'x' });
    expect(estimatedStartMs).toBe(20_000);
  });

  it('comes although Redis goes away once the task is accepted', async () => {
    const redis = connectRedis({ url: server.url, name: 'short', log: parts.log });
    const intake = { ...parts, ledger: ledgerOn(redis), relay: { add: () => redis.disconnect() } as unknown as Parts['relay'] };
    await submit();
    const { id, estimatedStartMs } = await acceptTask(intake, { tenant: TENANT, agent: 'echo', input: 'x' });
    expect(estimatedStartMs).toBeNull();
    expect((await readTask(parts.ledger, TENANT, id))?.state.status).toBe('queued');
  });
});

const ledgerOn = (redis: Parts['redis'], changes: Partial<Ledger> = {}): Ledger => ({
  ...createLedger({ ...parts.ledger, redis, limitsOf: (tenant) => parts.tenants.limitsOf(tenant), onTicket: () => undefined }),
  ...changes,
});

describe('the same request under the same key', () => {
  const request = { idempotencyKey: 'k', context: { a: 1 } };

  it('gets the same task, with the state it is in', async () => {
    const { id } = await submit(request);
    expect(await submit({ ...request, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })).toMatchObject({
      id,
      status: 'queued',
      isDuplicate: true,
    });
  });

  it('is a conflict when it asks for something else', async () => {
    const { id } = await submit(request);
    await expect(submit({ ...request, input: 'y' })).rejects.toMatchObject({ code: 'task.idempotency-conflict', details: { id } });
  });

  it('is compared by the producer’s own body where it has one', async () => {
    const { id } = await submit({ ...request, idempotencyBody: 'delivery 1' });
    expect((await submit({ idempotencyKey: 'k', input: 'rendered otherwise', idempotencyBody: 'delivery 1' })).id).toBe(id);
    await expect(submit({ ...request, idempotencyBody: 'delivery 2' })).rejects.toMatchObject({ code: 'task.idempotency-conflict' });
  });

  it('gets its task also when by now it would be refused', async () => {
    const limited = { ...request, tenant: 'strict' };
    const { id } = await submit(limited);
    await submit({ tenant: 'strict' });
    expect((await submit(limited)).id).toBe(id);
  });
});

describe('a request whose reply was lost between us and Redis', () => {
  it('is no duplicate, because there was one request', async () => {
    const ledger = ledgerOn(parts.redis);
    const twice: Ledger = {
      ...ledger,
      run: async (...call) => {
        await ledger.run(...call);
        return await ledger.run(...call);
      },
    };
    const accepted = await acceptTask({ ...parts, ledger: twice }, { tenant: TENANT, agent: 'echo', input: 'x', idempotencyKey: 'k' });
    expect(accepted).toMatchObject({ status: 'queued', isDuplicate: false });
    expect(await parts.redis.zcard(parts.keys.shard(0).outbox)).toBe(1);
  });
});

const openBurst = async (burst: number, name: 'user' | 'webhook' = 'user'): Promise<void> =>
  await parts.fleetLimits.change({ rates: { [name]: { perMinute: 1, perHour: 1000, burst } } }, null);

describe('the rates of the fleet', () => {
  afterEach(async () => await parts.fleetLimits.reset());

  it('refuse a task of any tenant once all have sent as many, and say when to come again', async () => {
    await openBurst(3);
    await Promise.all([submit(), submit({ tenant: 'one' }), submit({ tenant: 'two' })]);
    const refused = submit({ tenant: 'three' });
    await expect(refused).rejects.toMatchObject({
      code: 'limit.rate',
      details: { scope: 'fleet', rate: 'user', helps: REFUSAL_HELPS.rate },
    });
    const { retryAfterMs } = (await refused.catch((error: unknown) => error)) as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    await expect(submit({ source: 'webhook' })).resolves.toMatchObject({ status: 'queued' });
  });

  it('are not used up by what its tenant refuses, or had sent before', async () => {
    await openBurst(3, 'webhook');
    const rated = { tenant: 'rated', source: 'webhook' } as const;
    const { id } = await submit({ ...rated, idempotencyKey: 'k' });
    for (let n = 0; n < 5; n += 1)
      await expect(submit(rated)).rejects.toMatchObject({ details: { scope: 'webhook', helps: REFUSAL_HELPS.rate } });
    expect((await submit({ ...rated, idempotencyKey: 'k' })).id).toBe(id);
    await submit({ source: 'webhook' });
    await submit({ source: 'webhook' });
    await expect(submit({ source: 'webhook' })).rejects.toMatchObject({ details: { scope: 'fleet' } });
    expect((await submit({ ...rated, idempotencyKey: 'k' })).id).toBe(id);
  });

  it('cost no call where there are none', async () => {
    const sent = vi.spyOn(parts.redis, 'sendCommand');
    const calls = (): number => sent.mock.calls.filter(([{ args }]) => args.includes(parts.keys.fleet.rates)).length;
    await submit();
    expect(sent).toHaveBeenCalled();
    expect(calls()).toBe(0);
    await openBurst(1000);
    await submit();
    expect(calls()).toBe(1);
    sent.mockRestore();
  });
});
