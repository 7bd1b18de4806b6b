import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasCode, type MusterError } from '#shared/errors/error-codes.ts';
import { createLedger } from '#shared/ledger/ledger.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { type Accepted, acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { updateFleetPressure } from '#shared/queue/pressure/fleet-pressure.ts';
import { monitorOf } from '#shared/queue/pressure/pressure-monitor.ts';
import { describePressure } from '../../../../services/api/notifications/pressure-notice.ts';
import { useParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { completedState } from '../../ledger/support/stored-states.ts';

const parts = await useParts({
  limits: { backpressure: { warningDepth: 4, criticalDepth: 8, shedEventMs: 600_000, fleet: { warningDepth: 6, criticalDepth: 20 } } },
});
/** Knows nothing of earlier tests, like a process that has just started. */
let process: Pick<Parts, 'ledger' | 'relay' | 'queues' | 'log' | 'findAgent'>;
beforeEach(() => {
  process = { ...parts, ledger: createLedger({ ...parts.ledger }) };
});
afterEach(async () => {
  await parts.relay.idle();
  await parts.redis.flushall();
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<Accepted> =>
  await acceptTask(process, { tenant: 'default', agent: 'echo', input: 'x', ...request });
const PROACTIVE = { source: 'proactive' } as const;

async function refusal(request: Partial<AcceptRequest>): Promise<MusterError | null> {
  return await submit(request).then(
    () => null,
    (error: unknown) => (hasCode(error, 'limit.pressure') ? (error as MusterError) : Promise.reject(error as Error)),
  );
}

/** As if so many tasks of the tenant had not ended. */
async function load(depth: number, tenant = 'default'): Promise<void> {
  const { live } = parts.keys.tenant(tenant);
  await parts.redis.del(live);
  if (depth > 0) await parts.redis.zadd(live, ...Array.from({ length: depth }, (_, place) => [0, `granted=u1/${place}`]).flat());
}

async function published(tenant = 'default'): Promise<Record<string, string>[]> {
  const entries = await parts.redis.xrange(parts.keys.tenant(tenant).events, '-', '+');
  return entries
    .map(([, fields]) => Object.fromEntries(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []))))
    .filter(({ event }) => event?.startsWith('backpressure.'));
}

const counts = async (): Promise<Record<string, string>> => await parts.redis.hgetall(parts.keys.tenant('default').shed);

describe('a tenant with too much work', () => {
  it('gets proactive tasks and low priorities refused, and no others, also tenant `default`', async () => {
    await load(8);
    const refused = await refusal(PROACTIVE);
    expect(refused).toMatchObject({ code: 'limit.pressure', retryAfterMs: 30_000 });
    expect(refused?.details).toMatchObject({
      type: 'backpressure',
      level: 'critical',
      scope: 'tenant',
      source: 'proactive',
      band: 'normal',
      queue_depth: 8,
      recommendations: expect.any(Array),
    });
    expect((await refusal({ ...PROACTIVE, priority: 'critical' }))?.details).toMatchObject({ source: 'proactive', band: 'critical' });
    expect(await refusal({ priority: 'critical' })).toBeNull();
    expect(await refusal({ priority: 'low' })).not.toBeNull();
    expect(await refusal({ priority: 2, source: 'webhook' })).not.toBeNull();
    const parent = await submit();
    expect(await refusal({ priority: 'low', source: 'delegation', parentTaskId: parent.id })).toBeNull();
    for (const source of ['api', 'chat', 'webhook', 'schedule'] as const) expect(await refusal({ source })).toBeNull();
    expect(await refusal({ ...PROACTIVE, skip: { reason: 'held back' } })).toBeNull();
  });

  it('is recommended higher caps, not workers, in refusals, answers and events where its caps are full', async () => {
    const { live } = parts.keys.tenant('default');
    await parts.redis.zadd(live, ...Array.from({ length: 8 }, (_, place) => [0, `backlog=u1/05/${place}`, 0, `pending/${place}`]).flat());
    const raise = expect.arrayContaining([expect.stringMatching(/^Raise the tenant's caps/)]);
    expect((await refusal(PROACTIVE))?.details).toMatchObject({ recommendations: raise });
    expect((await submit()).pressure).toMatchObject({ level: 'critical', recommendations: raise });
    const [entry] = await published();
    expect(describePressure(entry ?? {}, 'tenant')).toMatchObject({ level: 'critical', recommendations: raise });
  });

  it('answers a repeated request with the task that it made before', async () => {
    const first = await submit({ ...PROACTIVE, idempotencyKey: 'k' });
    await load(8);
    await monitorOf(process).update('default');
    expect(await submit({ ...PROACTIVE, idempotencyKey: 'k' })).toMatchObject({ id: first.id, isDuplicate: true });
  });

  it('has each refusal counted by source and band, and a burst published once', async () => {
    await load(8);
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => await refusal(n % 3 === 0 ? { priority: 'low' } : PROACTIVE)),
    );
    expect(answers.filter((each) => each !== null)).toHaveLength(60);
    await waitFor(async () => (await counts())['proactive|normal'] === '40' && (await counts())['api|low'] === '20', {
      deadlineMs: 5000,
      what: 'all refusals to be counted',
    });
    expect((await published()).map(({ event }) => event)).toEqual(['backpressure.critical', 'backpressure.shed']);
    await load(0);
    await monitorOf(process).update('default');
    await monitorOf(process).update('default');
    const [cleared, ...more] = (await published()).slice(2);
    expect(cleared?.['event']).toBe('backpressure.cleared');
    expect(JSON.parse(cleared?.['shed'] ?? '{}')).toEqual({ 'proactive|normal': 40, 'api|low': 20 });
    expect(more).toEqual([]);
    expect(await refusal(PROACTIVE)).toBeNull();
    expect(await counts()).toEqual({});
  });

  it('has nothing refused where shedding is off', async () => {
    await load(8);
    const settings = { ...parts.ledger.settings };
    settings.limits = { ...settings.limits, backpressure: { ...settings.limits.backpressure, shed: false } };
    process = { ...parts, ledger: createLedger({ ...parts.ledger, settings }) };
    expect(await submit(PROACTIVE)).toMatchObject({ pressure: { level: 'critical', slowDown: null } });
  });
});

describe('a tenant with much work', () => {
  it('has proactive producers asked to slow down, others only warned', async () => {
    await load(4);
    expect((await submit(PROACTIVE)).pressure).toMatchObject({ level: 'warning', scope: 'tenant', slowDown: 2, slow_down: 2 });
    expect((await submit()).pressure).toMatchObject({ level: 'warning', slowDown: null });
    await waitFor(async () => (await published()).length > 0, { deadlineMs: 5000, what: 'the warning' });
    expect(await published()).toMatchObject([{ event: 'backpressure.warning', level: 'warning', slow: '2' }]);
  });

  it('has that level by the wait of its next task too, which excludes what runs', async () => {
    const own = parts.keys.tenant('default');
    // Two tasks, the second of which waited five minutes for the first.
    const ends = [completedState(1000, 1000, 1500), completedState(1000, 301000, 301500)];
    const ids = [(await submit()).id, (await submit()).id];
    for (const [position, id] of ids.entries()) {
      await parts.redis.hset(own.states, id, ends[position] ?? '');
      await parts.redis.zadd(own.index, 0, `status=completed/${id}`);
    }
    await load(2);
    process = { ...parts, ledger: createLedger({ ...parts.ledger }) };
    await parts.redis.zadd(parts.keys.shard(0).leases, Date.now() + 60_000, 'default/0/1', Date.now() + 60_000, 'default/1/1');
    expect(await monitorOf(process).update('default')).toMatchObject({ level: 'none', waitMs: 0 });
    await load(3);
    expect(await monitorOf(process).update('default')).toMatchObject({ level: 'warning', depth: 3, waitMs: 300_000 });
  });
});

describe('a fleet with too much work', () => {
  it('has proactive tasks of every tenant refused, without a word about how much the others have', async () => {
    await load(7, 'one');
    await load(13, 'other');
    const tenants = [{ id: 'one' }, { id: 'other' }, { id: 'quiet' }];
    expect(await updateFleetPressure(process.ledger, tenants)).toMatchObject({ level: 'critical', previous: 'none', depth: 20 });
    expect(await updateFleetPressure(process.ledger, tenants)).toMatchObject({ level: 'critical', previous: 'critical' });
    const refused = await refusal({ ...PROACTIVE, tenant: 'quiet' });
    expect(refused?.details).toMatchObject({ scope: 'fleet', level: 'critical', queueDepth: 0 });
    expect(await refusal({ tenant: 'quiet' })).toBeNull();
  });

  it('has a level no longer that nothing confirmed for a minute', async () => {
    const at = Date.now() - 61_000;
    await parts.redis.set(parts.keys.fleet.pressure, JSON.stringify({ level: 'critical', depth: 99, waitMs: 0, waiting: 0, at }));
    expect(await refusal(PROACTIVE)).toBeNull();
  });
});
