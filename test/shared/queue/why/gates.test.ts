import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseKnownState } from '#shared/ledger/codec/state.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import type { JournalKind } from '#shared/ledger/journal/entry.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { TaskHold } from '#shared/errors/task-failure.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { noteAgents } from '#shared/queue/registry/foreign-agents.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { explainWait, type WaitExplanation } from '#shared/queue/why/explain-wait.ts';
import { sortOf, WAIT_GATES, type WaitGate } from '#shared/errors/gates.ts';
import type { Task } from '#shared/tasks/task.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { documentedGates, gateRows } from '../../../docs/gate-table.ts';
import { storedState } from '../../ledger/support/stored-states.ts';

const NONE = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };

const parts = await useEmptyParts({
  dispatch: { lookAhead: 1 },
  limits: { tenants: { capped: { ...NONE, running: 1 }, heavy: { ...NONE, weight: 3 } }, maxConcurrent: 5 },
  queues: { webhooks: { slots: 2, limiter: { max: 1, durationMs: 60_000 } } },
  routing: { queue: { collect: { debounceMs: 60_000 } } },
});
const registry = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings };

afterEach(() => {
  vi.restoreAllMocks();
});

async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', ...request });
  await parts.relay.idle();
  return id;
}

async function explain(id: string, tenant = 'default'): Promise<WaitExplanation> {
  return await explainWait(parts, (await readTask(parts.ledger, tenant, id)) as Task);
}

async function run(id: string, end?: AttemptEnd, tenant = 'default', worker = 'w1'): Promise<void> {
  const lane = (await readTask(parts.ledger, tenant, id))?.state.lane ?? null;
  const claim = await claimTask(parts.ledger, { tenant, id, lane }, worker);
  if (claim.kind !== 'claimed') throw new Error(`The task was not claimed: ${claim.kind}`);
  if (end) await settleAttempt(parts.ledger, { tenant, id, lane, token: claim.state.token }, end);
}

/** As if a worker had reported that it serves these queues. */
async function startWorker(queues: readonly string[] = ['tasks', 'chat', 'webhooks'], slots = 4): Promise<void> {
  const report = { host: 'h', pid: 1, skewMs: 0, queues, slots, running: 0 };
  await beat(registry, `w-${queues.join('-')}`, workerReportSchema.parse(report));
}

const FAILURE = { code: 'NETWORK_ERROR', message: 'cut', retryable: true };
const MINUTE = 60_000;
/** Slots that other tests' workers offered, and what these tests claim, make the window larger. */
const MORE_THAN_THE_WINDOW = 20;

async function held(gate: TaskHold['gate']): Promise<{ id: string }> {
  const id = await submit();
  await run(id, { kind: 'interrupted', reason: 'not now', delayMs: null, hold: { gate, what: 'x' } });
  return { id };
}

async function suspended(gate: TaskHold['gate'], kind: JournalKind): Promise<{ id: string }> {
  const id = await submit();
  const entry = { seq: 2, kind, name: 'x', status: 'waiting', attempt: 1, startedAt: Date.now() } as const;
  const wait = { hold: { gate, what: 'x' }, entry, until: null, holdLaneMs: MINUTE };
  await run(id, { kind: 'suspended', reason: 'it waits', wait });
  return { id };
}

/** Makes a task that waits at the gate, of the given tenant or `default`. */
const BLOCKS: Record<WaitGate, () => Promise<{ id: string; tenant?: string }>> = {
  lane: async () => {
    await submit({ session: 's' });
    return { id: await submit({ session: 's' }) };
  },
  steer: async () => {
    await run(await submit({ session: 's' }));
    return { id: await submit({ session: 's', mode: 'steer' }) };
  },
  cap: async () => {
    await submit({ tenant: 'capped' });
    return { id: await submit({ tenant: 'capped' }), tenant: 'capped' };
  },
  time: async () => ({ id: await submit({ scheduledFor: new Date(Date.now() + MINUTE).toISOString() }) }),
  debounce: async () => {
    const first = await submit({ session: 's' });
    await run(first);
    const id = await submit({ session: 's', mode: 'collect' });
    const lane = 'session:s';
    await settleAttempt(
      parts.ledger,
      { tenant: 'default', id: first, lane, token: 1 },
      { kind: 'completed', output: '', result: null, usage: null },
    );
    await claimTask(parts.ledger, { tenant: 'default', id, lane }, 'w1');
    return { id };
  },
  retry: async () => {
    const id = await submit();
    await run(id, { kind: 'failed', error: FAILURE, delayMs: MINUTE, usage: null });
    return { id };
  },
  provider: async () => {
    const id = await submit();
    await run(id, { kind: 'interrupted', reason: 'throttled', delayMs: MINUTE });
    return { id };
  },
  budget: () => held('budget'),
  circuit: () => held('circuit'),
  failures: () => held('failures'),
  agent: () => held('agent'),
  repeats: () => held('repeats'),
  daemon: () => held('daemon'),
  commands: () => held('commands'),
  interruptions: () => held('interruptions'),
  sleep: () => suspended('sleep', 'sleep'),
  event: () => suspended('event', 'event'),
  question: () => suspended('question', 'question'),
  children: () => suspended('children', 'delegate'),
  batch: () => suspended('batch', 'batch'),
  caller: () => suspended('caller', 'caller'),
  suspect: async () => {
    const id = await submit();
    await run(id, { kind: 'failed', error: FAILURE, delayMs: MINUTE, usage: null });
    const { states } = parts.keys.tenant('default');
    const state = parseKnownState((await parts.redis.hget(states, id)) ?? '') as object;
    await parts.redis.hset(states, id, storedState({ ...state, gate: 'suspect' }));
    return { id };
  },
  turn: async () => {
    await startWorker(['tasks'], 1);
    await submit({ tenant: 'heavy' });
    return { id: await submit() };
  },
  fleet: async () => {
    await startWorker();
    const id = await submit();
    const ends = Date.now() + MINUTE;
    await parts.redis.zadd(parts.keys.shard(0).leases, ...Array.from({ length: 5 }, (_, at) => [ends, `default/other${at}/1`]).flat());
    return { id };
  },
  paused: async () => {
    await startWorker();
    await parts.queues.get(0, 'tasks').pause();
    return { id: await submit() };
  },
  worker: async () => ({ id: await submit() }),
  version: async () => {
    await startWorker();
    await noteAgents(parts, 'old', { versions: ['echo@v1'] });
    await noteAgents(parts, 'new', { versions: ['echo@v2'] });
    const id = await submit();
    await run(id, { kind: 'interrupted', reason: 'drained', delayMs: 0, version: 'v1' });
    return { id };
  },
  queue: async () => {
    await startWorker();
    return { id: await submit() };
  },
  outbox: async () => {
    await startWorker();
    const id = await submit();
    await parts.redis.del(parts.keys.shard(0).ready);
    return { id };
  },
  rate: async () => {
    await startWorker();
    const id = await submit({ source: 'webhook' });
    await parts.redis.hset(`${parts.keys.shard(0).jobs}:starts`, 'webhooks', `${Date.now() + MINUTE}/1`);
    return { id };
  },
  clock: async () => {
    const id = await submit({ scheduledFor: new Date(Date.now() + MINUTE).toISOString() });
    const real = systemClock.now.bind(systemClock);
    vi.spyOn(systemClock, 'now').mockImplementation(() => real() + 5 * MINUTE);
    return { id };
  },
  deadline: async () => {
    const deadline = Date.now() + MINUTE;
    const id = await submit({ deadline: new Date(deadline).toISOString() });
    const { states } = parts.keys.tenant('default');
    const { state } = (await readTask(parts.ledger, 'default', id)) as Task;
    await parts.redis.hset(states, id, storedState({ ...state, deadline: Date.now() - 1000 }));
    return { id };
  },
};

/** Gates that go with the reason of another. */
const WITH_ANOTHER: Partial<Record<WaitGate, WaitGate>> = { clock: 'time', deadline: 'worker' };

describe('the kind of each gate', () => {
  it('is of the sort of its name', () => {
    for (const gate of WAIT_GATES) expect([gate, parts.ledger.gates[gate]?.sort]).toEqual([gate, sortOf(gate)]);
  });

  it('is in the documentation', () => {
    expect(documentedGates()).toEqual(gateRows(parts.ledger.gates));
  });
});

describe('a task that waits', () => {
  it.each(WAIT_GATES)('at the gate %s has it among its gates, closed, with what helps', async (gate) => {
    const { id, tenant } = await BLOCKS[gate]();
    const { gates, reasons } = await explain(id, tenant);
    const found = gates.find((each) => each.gate === gate);
    expect(found).toMatchObject({ state: 'closed', helps: expect.stringMatching(/\.$/) as string });
    expect(reasons).not.toEqual([]);
    expect(reasons.map((reason) => reason.gate)).toContain(WITH_ANOTHER[gate] ?? gate);
  });

  it('has every gate once on its path, in order, and helps only at closed ones', async () => {
    await startWorker();
    const { gates } = await explain(await submit());
    expect(gates.map(({ gate }) => gate)).toEqual([
      'time',
      'clock',
      'lane',
      'cap',
      'paused',
      'worker',
      'version',
      'turn',
      'outbox',
      'rate',
      'fleet',
      'queue',
      'deadline',
    ]);
    expect(gates.filter(({ state, helps }) => (state === 'closed') !== (helps !== null))).toEqual([]);
  });
});

describe('a task that was running at a worker', () => {
  const LEASE_MS = parts.settings.worker.leaseMs;
  const LOST = { kind: 'interrupted', reason: 'lost', losses: 1, delayMs: 1500 } as const;

  /** Its lease as if it had been renewed so long ago. */
  async function runSince(renewedMs: number): Promise<string> {
    const id = await submit();
    await run(id);
    await parts.redis.zadd(parts.keys.shard(0).leases, Date.now() + LEASE_MS - renewedMs, `default/${id}/1`);
    return id;
  }

  it('waits for nothing while its lease is renewed', async () => {
    expect(await explain(await runSince(0.6 * LEASE_MS))).toMatchObject({ status: 'running', reasons: [], estimatedStartMs: null });
  });

  it('that renews no lease says when it is lost, and when the task starts again at the latest', async () => {
    const { reasons, estimatedStartMs } = await explain(await runSince(0.8 * LEASE_MS));
    expect(reasons).toMatchObject([
      { gate: 'suspect', detail: expect.stringMatching(/its worker w1 last renewed its lease at .*lost at/) as string },
    ]);
    const { orphanCheckIntervalMs, suspectDelayMs } = parts.settings.worker;
    const bound = 0.2 * LEASE_MS + orphanCheckIntervalMs + 2 * suspectDelayMs;
    expect(estimatedStartMs).toSatisfy((ms: number) => ms > bound / 2 && ms <= bound + 100);
  });

  it('that was lost comes back at its time, and says what it waits for when no isolated process has room then', async () => {
    const id = await submit();
    await run(id, LOST);
    const back = await explain(id);
    expect(back.reasons[0]?.detail).toMatch(/comes back in an isolated process, not before/);
    expect(back.estimatedStartMs).toBeLessThanOrEqual(LOST.delayMs);
    const { states } = parts.keys.tenant('default');
    const { state } = (await readTask(parts.ledger, 'default', id)) as Task;
    await parts.redis.hset(states, id, storedState({ ...state, notBefore: Date.now() + 3000 }));
    const turnedAway = await explain(id);
    expect(turnedAway.reasons[0]?.detail).toMatch(/waits for a free isolated process of a worker, and looks again at/);
    expect(turnedAway.estimatedStartMs).toBeNull();
  });
});

describe('the figures of a gate', () => {
  it('are the places in the order of the tenant and of the fleet', async () => {
    await startWorker(['tasks'], 1);
    for (let count = 0; count < MORE_THAN_THE_WINDOW; count += 1) await submit({ tenant: 'heavy' });
    for (let count = 0; count < MORE_THAN_THE_WINDOW; count += 1) await submit();
    const id = await submit();
    const turn = (await explain(id)).gates.find(({ gate }) => gate === 'turn');
    expect(turn).toMatchObject({ state: 'closed', facts: { tenants: 2, weight: 1 } });
    const { tenantPlace, tenantReady, fleetPlace } = turn?.facts ?? {};
    expect(tenantPlace).toBe(tenantReady);
    expect(Number(fleetPlace)).toBeGreaterThan(Number(tenantPlace));
  });

  it('are the holder of the lane and the place in it', async () => {
    const first = await submit({ session: 's' });
    await submit({ session: 's' });
    const { gates } = await explain(await submit({ session: 's' }));
    expect(gates.find(({ gate }) => gate === 'lane')).toMatchObject({ facts: { lane: 'session "s"', holder: first, place: 3 } });
  });

  it('are the caps, also while they have room', async () => {
    const { gates } = await explain(await submit({ tenant: 'capped' }), 'capped');
    expect(gates.find(({ gate }) => gate === 'cap')).toMatchObject({ state: 'open', facts: { tenant: '1/1' } });
  });

  it("are its tenant's shares of the fleet's caps", async () => {
    const task = (await readTask(parts.ledger, 'default', await submit())) as Task;
    const share = { ends: Date.now() + MINUTE, shares: { user: 3, webhook: 9 } };
    const ledger = { ...parts.ledger, fleetShareOf: () => share };
    const { gates } = await explainWait({ ...parts, ledger }, task);
    expect(gates.find(({ gate }) => gate === 'cap')?.facts).toEqual({ "tenant's share of the fleet's user": '1/3' });
  });

  it('are the slots of the workers that serve its queue', async () => {
    await startWorker(['tasks'], 7);
    await startWorker(['chat'], 9);
    const { gates } = await explain(await submit());
    expect(gates.find(({ gate }) => gate === 'worker')).toMatchObject({ state: 'open', facts: { workers: 1, slots: 7, free: 7, kept: 0 } });
  });

  it('are the slots that no attempt holds now, whatever the last heartbeat said', async () => {
    await startWorker(['tasks'], 4);
    await startWorker(['chat'], 4);
    for (const worker of ['w-tasks', 'w-tasks+1', 'w-chat']) await run(await submit(), undefined, 'default', worker);
    const { gates } = await explain(await submit());
    expect(gates.find(({ gate }) => gate === 'worker')).toMatchObject({ facts: { workers: 1, slots: 4, free: 2 } });
  });
});
