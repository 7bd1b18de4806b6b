import { afterEach, describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { MachineSnapshots } from '../../../../services/worker/chores/snapshot-machine.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi({ fleet: { maxSnapshots: 2 } });
const { parts } = api;
const fleet = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings };
const REPORT = workerReportSchema.parse({
  host: 'machine-1',
  pid: 42,
  skewMs: -7,
  version: '0.1.0',
  startedAt: Date.UTC(2026, 4, 1),
  queues: ['tasks', 'chat'],
  slots: 12,
  running: 3,
  suspects: 1,
  stopped: ['the queue "chat" of shard 0 is not consumed'],
  blocks: { count: 1, lastAt: Date.UTC(2026, 4, 2), longestMs: 4000 },
  memoryMb: 180,
  cpu: 0.25,
  eventLoopDelayMs: 2.5,
});

afterEach(async () => {
  const { workers, workerNotes, workerDrains, snapshots } = parts.keys.fleet;
  await parts.redis.del(workers, workerNotes, workerDrains, snapshots);
});

describe('the fleet', () => {
  it('shows each worker with all that it reports', async () => {
    await beat(fleet, 'w-1', REPORT);
    const { body } = await api.call('GET', '/v1/fleet');
    expect(body).toEqual({
      workers: [
        {
          id: 'w-1',
          host: 'machine-1',
          pid: 42,
          version: '0.1.0',
          status: 'busy',
          queues: ['tasks', 'chat'],
          slots: 12,
          running: 3,
          suspects: 1,
          memoryMb: 180,
          cpu: 0.25,
          eventLoopDelayMs: 2.5,
          skewMs: -7,
          stopped: ['the queue "chat" of shard 0 is not consumed'],
          blocked: { count: 1, lastAt: '2026-05-02T00:00:00.000Z', longestMs: 4000 },
          startedAt: '2026-05-01T00:00:00.000Z',
          lastBeatAt: expect.stringMatching(/^20.*Z$/),
          drainRequestedAt: null,
        },
      ],
      daemons: [],
      hubs: [],
      snapshots: [],
    });
    expect((await api.call('GET', '/v1/fleet/w-1')).body).toEqual(body.workers[0]);
  });

  it('has no other worker', async () => {
    expect(await api.call('GET', '/v1/fleet/w-9')).toMatchObject({ status: 404, body: { code: 'worker.not-found' } });
    expect(await api.call('POST', '/v1/fleet/w-9/drain')).toMatchObject({ status: 404, body: { code: 'worker.not-found' } });
  });

  it('shows what runs and what a machine used, in a bounded series, newest first', async () => {
    for (const session of ['one', 'two', null]) {
      const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', ...(session === null ? {} : { session }) });
      await claimTask(parts.ledger, { tenant: 'default', id, lane: session === null ? null : `session:${session}` }, 'w-1');
    }
    await beat(fleet, 'w-1', REPORT);
    const snapshots = new MachineSnapshots(parts.ledger);
    for (const _ of [1, 2, 3]) await snapshots.run();
    const { body } = await api.call('GET', '/v1/fleet');
    expect(body.snapshots).toHaveLength(2);
    expect(body.snapshots[0]).toMatchObject({ activeWorkers: 1, running: 3, lanesHeld: 3, sessions: 2 });
    const { cpuPercent, memoryMb, totalMemoryMb, load, at } = body.snapshots[0];
    expect(cpuPercent).toBeGreaterThanOrEqual(0);
    expect(cpuPercent).toBeLessThanOrEqual(100);
    expect(memoryMb).toBeLessThanOrEqual(totalMemoryMb);
    expect(load).toBeGreaterThanOrEqual(0);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(body.snapshots[1].at));
  });
});

describe('a drain', () => {
  it('is accepted, shows at once, and may be requested again', async () => {
    await beat(fleet, 'w-1', REPORT);
    const first = await api.call('POST', '/v1/fleet/w-1/drain');
    expect(first).toMatchObject({ status: 202, body: { id: 'w-1', status: 'draining', running: 3 } });
    expect((await api.call('POST', '/v1/fleet/w-1/drain')).body.drainRequestedAt).toBe(first.body.drainRequestedAt);
    expect((await api.call('GET', '/v1/fleet')).body.workers[0]).toMatchObject({ status: 'draining' });
  });
});

describe('keys', () => {
  it('of another tenant see and drain nothing, and draining needs the scope operate', async () => {
    await beat(fleet, 'w-1', REPORT);
    const outsider = await api.keyOf('other', ['admin']);
    const reader = await api.keyOf('default', ['read']);
    for (const [method, path] of [
      ['GET', '/v1/fleet'],
      ['GET', '/v1/fleet/w-1'],
      ['POST', '/v1/fleet/w-1/drain'],
    ] as const)
      expect((await api.call(method, path, { key: outsider })).body.code).toBe('auth.forbidden');
    expect((await api.call('POST', '/v1/fleet/w-1/drain', { key: reader })).status).toBe(403);
    expect((await api.call('GET', '/v1/fleet', { key: reader })).body.workers[0].status).toBe('busy');
  });
});
