import { afterEach, describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { createDaemon, removeDaemonState, writeDaemonStates } from '#shared/daemons/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { MachineSnapshots } from '../../../../services/worker/chores/snapshot-machine.ts';
import { daemonState } from '../../../support/daemons/daemon-state.ts';
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
  group: 'gpu',
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
  const { workers, workerNotes, workerDrains, snapshots, daemons, daemonNames, daemonStates, daemonTokens } = parts.keys.fleet;
  await parts.redis.del(workers, workerNotes, workerDrains, snapshots, daemonStates, daemonTokens);
  for (const tenant of ['default', 'acme']) await parts.redis.del(daemons(tenant), daemonNames(tenant));
});

describe('the fleet', () => {
  it('shows each worker with all that it reports, and with what it runs now', async () => {
    await beat(fleet, 'w-1@v2', REPORT);
    for (const process of ['w-1@v2', 'w-1@v2+3', 'w-2@v2']) {
      const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
      await claimTask(parts.ledger, { tenant: 'default', id, lane: null }, process);
    }
    const { body } = await api.call('GET', '/v1/fleet');
    expect(body).toEqual({
      workers: [
        {
          id: 'w-1@v2',
          host: 'machine-1',
          pid: 42,
          version: '0.1.0',
          release: 'v2',
          status: 'busy',
          group: 'gpu',
          queues: ['tasks', 'chat'],
          slots: 12,
          running: 2,
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
    expect((await api.call('GET', '/v1/fleet/w-1@v2')).body).toEqual(body.workers[0]);
  });

  it('shows as idle what has ended its work since its last heartbeat', async () => {
    await beat(fleet, 'w-7@v2', REPORT);
    expect((await api.call('GET', '/v1/fleet/w-7@v2')).body).toMatchObject({ status: 'idle', running: 0, suspects: 0 });
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
    // An API process that serves daemons has a heartbeat too, and is no worker.
    await beat(fleet, 'api-1', { ...REPORT, role: 'hub' });
    const snapshots = new MachineSnapshots(parts.ledger);
    for (const _ of [1, 2, 3]) await snapshots.run();
    const { body } = await api.call('GET', '/v1/fleet');
    expect(body.snapshots).toHaveLength(2);
    expect(body.snapshots[0]).toMatchObject({ activeWorkers: 1, activeHubs: 1, running: 6, lanesHeld: 6, sessions: 2 });
    const { cpuPercent, memoryMb, totalMemoryMb, load, at } = body.snapshots[0];
    expect(cpuPercent).toBeGreaterThanOrEqual(0);
    expect(cpuPercent).toBeLessThanOrEqual(100);
    expect(memoryMb).toBeLessThanOrEqual(totalMemoryMb);
    expect(load).toBeGreaterThanOrEqual(0);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(body.snapshots[1].at));
  });
});

const namesOf = (daemons: { tenant: string; name: string; status: string }[]): string[] =>
  daemons.map(({ tenant, name, status }) => `${tenant} ${name} ${status}`);

describe('daemons and hubs', () => {
  const STATE = daemonState({ running: 1, load: 0.5, connectedAt: Date.UTC(2026, 4, 1), beatAt: 0 });

  const connect = async (tenant: string, name: string): Promise<{ tenant: string; id: string }> => {
    const registration = { name, user: null, capabilities: null, slots: null, agents: null, enabled: true };
    const { daemon } = await createDaemon(parts, { ...registration, tenant }, 10);
    await writeDaemonStates(parts, [{ tenant, id: daemon.id, state: { ...STATE, name }, isFirst: true }]);
    return daemon;
  };

  it('show a hub apart from the workers, with how many daemons it holds', async () => {
    await beat(fleet, 'w-1', REPORT);
    await beat(fleet, 'hub-1', { ...REPORT, role: 'hub', queues: ['remote'] });
    await connect('default', 'a');
    await connect('acme', 'b');
    const { body } = await api.call('GET', '/v1/fleet');
    expect(body.workers.map(({ id }: { id: string }) => id)).toEqual(['w-1']);
    expect(body.hubs).toMatchObject([{ id: 'hub-1', queues: ['remote'], daemons: 2 }]);
    expect((await api.call('POST', '/v1/fleet/hub-1/drain')).body).toMatchObject({ id: 'hub-1', status: 'draining' });
  });

  it('show all daemons to the tenant default, connected ones first, and to others their own', async () => {
    const gone = await connect('acme', 'gone');
    await removeDaemonState(parts, { ...gone, connection: STATE.connection });
    await connect('acme', 'here');
    await connect('default', 'own');
    const { body } = await api.call('GET', '/v1/fleet');
    expect(namesOf(body.daemons).toSorted()).toEqual(['acme gone offline', 'acme here online', 'default own online']);
    expect(namesOf(body.daemons).at(-1)).toBe('acme gone offline');
    const own = (await api.call('GET', '/v1/fleet', { key: await api.keyOf('acme', ['read']) })).body;
    expect(namesOf(own.daemons)).toEqual(['acme here online', 'acme gone offline']);
    expect([own.workers, own.hubs, own.snapshots]).toEqual([[], [], []]);
    expect((await api.call('GET', '/v1/fleet', { key: await api.keyOf('other', ['read']) })).body.daemons).toEqual([]);
  });

  it('count as capacity of the fleet, and of the tenant whose they are', async () => {
    await beat(fleet, 'w-1', REPORT);
    const capacity = async (key: string, query = ''): Promise<number[]> => {
      const { body } = await api.call('GET', `/v1/metrics${query}`, { key });
      return [body.daemons_online, body.daemons_busy, body.total_daemon_capacity];
    };
    const { slots } = REPORT;
    const before = await capacity(api.key, '?scope=fleet');
    await connect('acme', 'one');
    await connect('acme', 'two');
    await connect('default', 'three');
    expect(await capacity(await api.keyOf('acme', ['read']))).toEqual([3, 2, (slots ?? 0) + 4]);
    expect(await capacity(await api.keyOf('other', ['read']))).toEqual([1, 0, slots]);
    const after = await capacity(api.key, '?scope=fleet');
    expect(after.map((figure, position) => figure - (before[position] ?? 0))).toEqual([3, 3, 6]);
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
    expect((await api.call('GET', '/v1/fleet', { key: outsider })).body).toEqual({ workers: [], daemons: [], hubs: [], snapshots: [] });
    for (const [method, path] of [
      ['GET', '/v1/fleet/w-1'],
      ['POST', '/v1/fleet/w-1/drain'],
    ] as const)
      expect((await api.call(method, path, { key: outsider })).body.code).toBe('auth.forbidden');
    expect((await api.call('POST', '/v1/fleet/w-1/drain', { key: reader })).status).toBe(403);
    expect((await api.call('GET', '/v1/fleet', { key: reader })).body.workers[0].status).toBe('busy');
  });
});
