import { afterEach, expect, it } from 'vitest';
import { type LongWait, readLongWaits } from '#shared/findings/facts/waits.ts';
import { noteRefusal } from '#shared/deliveries/refused-platforms.ts';
import { HOLD_GATES, type TaskHold } from '#shared/errors/index.ts';
import { newestTenantEvent, readTenantEvents } from '#shared/events/tenant-events.ts';
import { endedMember } from '#shared/ledger/ended-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { waitKinds } from '#shared/waits/gates.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { problemsOf } from '#shared/lifecycle/service.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { beatProcess, type ProcessIdentity } from '#shared/queue/registry/process-registry.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { installationText } from '#shared/redis/installation.ts';
import { readMemory } from '#shared/redis/replies.ts';
import { ZONE_DATA } from '#shared/time/index.ts';
import type { CommandContext } from '../../../../services/cli/command-context.ts';
import { openFindings } from '../../../../services/api/fleet/open-findings.ts';
import { findAttention } from '../../../../services/cli/commands/fleet/attention.ts';
import { type DoctorOptions, runDoctor } from '../../../../services/local/doctor/run-doctor.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { sealRecord } from '#shared/tenants/sealing/sealed-records.ts';
import { checkRows } from '../../../shared/findings/check-rows.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';

const api = await useApi();
const { parts } = api;
const { redis, keys, ledger, config } = parts;
const fleet = { redis, keys, seal: parts.seal, settings: config.settings };
const own = keys.tenant('default');
const configure = (name: string, value: string): Promise<unknown> => redis.call('CONFIG', 'SET', name, value);
/** A Redis as the promises need it. */
const CONFIGURED = { appendonly: 'yes', appendfsync: 'everysec', 'maxmemory-policy': 'noeviction', 'min-replicas-to-write': '0' };
for (const [name, value] of Object.entries(CONFIGURED)) await configure(name, value);

afterEach(async () => {
  await parts.relay.idle();
  const lasting = await redis.hgetall(keys.fleet.apiKeys);
  await redis.flushall();
  await redis.hset(keys.fleet.apiKeys, lasting);
});

const DAY_MS = 86_400_000;
const PROCESS: ProcessIdentity = {
  id: 'scheduler@x:1',
  services: [],
  startedAt: 0,
  release: 'v1',
  configuration: 'v1#a',
  zoneData: ZONE_DATA,
};
const OTHER_SEAL = new Seal({ key: Buffer.alloc(32, 1) });
const HOOK = { id: '01H' };
const REPORT = { host: 'h', pid: 1, skewMs: 0, running: 0, slots: 1, queues: [] };

async function hold(gate: TaskHold['gate'], { count = 1, until = null }: { count?: number; until?: number | null } = {}): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
    await holdTask(ledger, { tenant: 'default', id, hold: { gate, what: 'it' }, until });
  }
}

/** As nine attempts that failed. */
async function failAgent(): Promise<void> {
  await redis.hset(own.agentMinute(Math.floor(Date.now() / 60_000)), 'echo|failed', 9);
}

interface BadState {
  /** The id of its finding. */
  id: string;
  make: () => Promise<unknown>;
  end?: () => Promise<unknown>;
  level: 'critical' | 'warning';
  /** Whose it is. */
  scope: 'fleet' | 'tenant';
}

const STATES: BadState[] = [
  {
    id: 'redis.appendonly',
    make: () => configure('appendonly', 'no'),
    end: () => configure('appendonly', 'yes'),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'redis.appendfsync',
    make: () => configure('appendfsync', 'no'),
    end: () => configure('appendfsync', 'everysec'),
    level: 'warning',
    scope: 'fleet',
  },
  {
    id: 'redis.maxmemory-policy',
    make: () => configure('maxmemory-policy', 'allkeys-lru'),
    end: () => configure('maxmemory-policy', 'noeviction'),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'redis.memory',
    make: async () => configure('maxmemory', String(Math.round(((await readMemory(redis))[0]?.used ?? 0) / 0.85))),
    end: () => configure('maxmemory', '0'),
    level: 'warning',
    scope: 'fleet',
  },
  { id: 'data.unreadable', make: () => redis.hset(own.schedules, '01S', 'other'), level: 'warning', scope: 'fleet' },
  {
    id: 'data.mixed',
    // As a process of 0.1 beats, which says nothing of a form.
    make: async () => {
      await redis.set(keys.fleet.installation, installationText(keys));
      await redis.zadd(keys.fleet.processes, Date.now(), JSON.stringify({ ...PROCESS, release: '0.1.0' }));
    },
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'worker.dead:w-1',
    make: async () => {
      await redis.hset(keys.fleet.workerNotes, 'w-1', JSON.stringify(REPORT));
      await redis.zadd(keys.fleet.deadWorkers, Date.now() - 60_000, 'w-1');
    },
    level: 'warning',
    scope: 'fleet',
  },
  { id: 'worker.clock:w-1', make: () => beat(fleet, 'w-1', { ...REPORT, skewMs: 90_000 }), level: 'warning', scope: 'fleet' },
  {
    id: 'process.stopped:scheduler@x:1',
    make: async () => {
      const problems = await problemsOf(
        [{ name: 's', start: async () => {}, stop: async () => {}, problems: () => ['no ticks'] }],
        async () => [],
      );
      await beatProcess(parts, PROCESS, problems);
    },
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'process.stopped:w-1',
    make: () => beat(fleet, 'w-1', { ...REPORT, stopped: ['the queue "chat" of shard 0 is not consumed'] }),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'configuration.mixed',
    make: async () => {
      await beatProcess(parts, PROCESS);
      await beatProcess(parts, { ...PROCESS, id: 'other', configuration: 'v2#a' });
    },
    level: 'warning',
    scope: 'fleet',
  },
  {
    id: 'seal.mixed',
    make: async () => {
      await beatProcess(parts, { ...PROCESS, sealKey: '12ab34cd' });
      await beatProcess(parts, { ...PROCESS, id: 'other' });
    },
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: `seal.lost:${OTHER_SEAL.keyId}`,
    make: () =>
      redis.hset(own.hooks, '01H', sealRecord(OTHER_SEAL, { kind: 'hooks', tenant: 'default', id: '01H' }, { ...HOOK, secret: 'shh' })),
    level: 'critical',
    scope: 'fleet',
  },
  { id: 'zone-data.old', make: () => beatProcess(parts, { ...PROCESS, zoneData: '2020a' }), level: 'warning', scope: 'fleet' },
  {
    id: 'chore.failing:watch-slas',
    make: () => redis.hset(keys.fleet.chores, 'watch-slas/failed', JSON.stringify({ at: Date.now(), error: 'no room', process: 'w' })),
    level: 'warning',
    scope: 'fleet',
  },
  {
    id: 'chore.late:watch-slas',
    make: async () => {
      await redis.hset(keys.fleet.chores, 'watch-slas/ran', JSON.stringify({ at: Date.now() - DAY_MS, tookMs: 1, process: 'w' }));
      await beat(fleet, 'w', { ...REPORT, startedAt: Date.now() - DAY_MS });
    },
    level: 'warning',
    scope: 'fleet',
  },
  {
    id: 'queue.unserved:chat',
    make: () => redis.hset(keys.fleet.unservedQueues, 'chat', 1, 'chat notified', 1),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'queue.paused:chat',
    make: () => parts.queues.get(0, 'chat').pause(),
    end: () => parts.queues.get(0, 'chat').resume(),
    level: 'warning',
    scope: 'fleet',
  },
  { id: 'hub.missing', make: () => redis.hset(keys.fleet.daemonTokens, 'digest', 'default/1'), level: 'warning', scope: 'fleet' },
  { id: 'daemon.missing:daemon', make: () => hold('daemon'), level: 'warning', scope: 'fleet' },
  {
    id: 'ends.unfollowed:callback',
    make: () => redis.zadd(keys.shard(0).ended, 0, endedMember('callback', Date.now() - DAY_MS, 'default', 'a')),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'delivery.untaken:replies',
    make: () => redis.lpush(`${keys.shard(0).queues}:replies:wait`, 'a-reply'),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'chat.refused:discord',
    make: () => noteRefusal(parts, 'discord', { reason: 'Discord refuses the token', since: 0 }),
    level: 'critical',
    scope: 'fleet',
  },
  {
    id: 'pressure.critical',
    make: () =>
      redis.set(keys.fleet.pressure, JSON.stringify({ level: 'critical', depth: 62, waitMs: 7_200_000, waiting: 62, at: Date.now() })),
    level: 'critical',
    scope: 'fleet',
  },
  { id: 'tenant.pressed:acme', make: () => redis.hset(keys.shard(0).pressure, 'acme', 'critical'), level: 'warning', scope: 'fleet' },
  { id: 'pressure.critical', make: () => redis.hset(keys.shard(0).pressure, 'default', 'critical'), level: 'critical', scope: 'tenant' },
  { id: 'agent.failing:echo', make: failAgent, level: 'critical', scope: 'tenant' },
  {
    id: 'agent.paused:agent:echo',
    make: () => api.call('POST', '/v1/agents/echo/pause', { body: {} }),
    level: 'warning',
    scope: 'tenant',
  },
  {
    id: 'budget.hard:all',
    make: () => api.call('PUT', '/v1/budgets/all', { body: { scope: 'tenant', per: 'total', softMicroUsd: 0, hardMicroUsd: 0 } }),
    end: () => api.call('DELETE', '/v1/budgets/all'),
    level: 'critical',
    scope: 'tenant',
  },
  {
    id: 'endpoint.disabled:https://a.test',
    make: () => {
      const times = { failingSince: 1, lastFailureAt: 1, disabledAt: 1 };
      const record = { url: 'https://a.test', failures: 9, error: 'no', ...times };
      return redis.hset(own.callbackEndpoints, record.url, JSON.stringify(record));
    },
    level: 'critical',
    scope: 'tenant',
  },
  { id: 'input.held', make: () => hold('repeats'), level: 'critical', scope: 'tenant' },
  ...(['budget', 'circuit', 'failures', 'agent', 'paused', 'worker', 'commands', 'interruptions'] as const).map((gate): BadState => ({
    id: `task.held:${gate}:it`,
    make: () => hold(gate),
    level: 'warning',
    scope: 'tenant',
  })),
  {
    id: 'task.held:provider:it',
    make: () => hold('provider', { count: 20, until: Date.now() + 5 * DAY_MS }),
    level: 'critical',
    scope: 'tenant',
  },
];

interface Row {
  id?: string;
  state: string;
  of?: string;
}

const get = async (path: string): Promise<Record<string, unknown>[]> => (await api.call('GET', path)).body.items;
const readVariable = (name: string): string | undefined => (name === 'REDIS_URL' ? config.env.REDIS_URL : undefined);
const load = (): ReturnType<NonNullable<DoctorOptions['load']>> => Promise.resolve({ ...config, readVariable });
const failuresOf = (rows: readonly Row[]): number => rows.filter(({ state }) => state === 'fail').length;
const withId = (rows: readonly object[], id: string): object[] => rows.filter((row) => 'id' in row && row.id === id);

interface Views {
  attention: Record<string, unknown>[];
  checks: Record<string, unknown>[];
  doctor: Row[];
  /** Notifications since some entry. */
  events: string[];
}

async function readViews(after: string): Promise<Views> {
  let text = '';
  const context = {
    clock: { now: () => Date.now() },
    connect: () => ({ get: async (path: string) => (await api.call('GET', path)).body }),
  };
  await runDoctor({
    out: { write: (part) => (text += part) },
    load,
    json: true,
    findAttention: () => findAttention(context as unknown as CommandContext),
  });
  const checks = await get('/v1/checks');
  const attention = await get('/v1/attention');
  const { entries } = await readTenantEvents(parts, 'default', { entry: after, isPart: false }, 1000);
  const events = entries.filter(({ event }) => event.includes('finding.'));
  return {
    attention,
    checks,
    doctor: JSON.parse(text).items,
    events: events.map(({ event, fields }) => `${event} ${JSON.parse(fields['about'] ?? '{}').finding.id}`),
  };
}

const OWNER: unknown = expect.any(String);

/** What each view has to say of a state. */
function expectedOf({ level, scope }: BadState): { row: object; checks: object[]; event: string; fails: boolean } {
  if (scope === 'tenant') return { row: { state: 'warn', of: OWNER }, checks: [], event: 'finding', fails: false };
  const row = { state: level === 'critical' ? 'fail' : 'warn' };
  return { row, checks: [row], event: 'fleet.finding', fails: level === 'critical' };
}

const quiet = await readViews('0-0');

it.each(STATES)('$id of the $scope is $level in every view', async (state) => {
  const { id, make, end, level, scope } = state;
  const expected = expectedOf(state);
  expect(await get('/v1/attention')).toEqual([]);
  const after = await newestTenantEvent(parts, 'default');
  await make();
  const views = await readViews(after);
  await end?.();
  const words = { text: expect.stringMatching(/\.$/), helps: expect.stringMatching(/\S\.$/), since: expect.any(String) };
  expect(withId(views.attention, id)).toMatchObject([{ level, scope, ...words }]);
  expect(withId(views.doctor, id)).toMatchObject([expected.row]);
  expect(failuresOf(views.doctor) > failuresOf(quiet.doctor)).toBe(expected.fails);
  expect(withId(views.checks, id)).toMatchObject(expected.checks);
  expect(views.events).toContain(`${expected.event}.opened ${id}`);
});

const ENDING = STATES.flatMap(({ end, ...state }) => (end ? [{ ...state, end }] : []));

it.each(ENDING)('$id of the $scope is gone from every view when it has ended', async ({ id, scope, make, end }) => {
  await make();
  await readViews('0-0');
  const after = await newestTenantEvent(parts, 'default');
  await end();
  const { attention, checks, doctor, events } = await readViews(after);
  expect([attention, checks, doctor].map((rows) => withId(rows, id))).toEqual([[], [], []]);
  expect(events).toContain(`${scope === 'fleet' ? 'fleet.finding' : 'finding'}.resolved ${id}`);
});

it('a suspended run is in no view, until it has waited for longer than its gate says', async () => {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' });
  const drive = driveTasks(parts);
  const attempt = await drive.start(id);
  const entry = { seq: 2, kind: 'question', name: 'x', status: 'waiting', attempt: 1, startedAt: Date.now() } as const;
  const wait = { hold: { gate: 'question', what: 'q' }, entry, until: null, holdLaneMs: 0 } as const;
  await settleAttempt(ledger, attempt, { kind: 'suspended', reason: 'its run asks: go on?', wait });
  expect(await get('/v1/attention')).toEqual([]);
  const { states } = own;
  const text = (await redis.hget(states, id)) ?? '';
  await redis.hset(states, id, text.replace(/suspended@\d+/, `suspended@${Date.now() - 2 * DAY_MS}`));
  expect(await get('/v1/attention')).toMatchObject([{ code: 'task.held', gate: 'question', level: 'warning' }]);
});

it('every gate that holds tasks is in some finding', () => {
  const named = STATES.map(({ id }) => id).join(' ');
  const elsewhere: Readonly<Record<string, string>> = { repeats: 'input.held', daemon: 'daemon.missing' };
  // Those of suspended runs, which wait for days before they are in one.
  const ofRuns = new Set<string>(Object.keys(waitKinds(ledger)));
  for (const gate of HOLD_GATES.filter((each) => !ofRuns.has(each))) expect(named).toContain(elsewhere[gate] ?? `task.held:${gate}`);
});

it('a long wait is named with its gate, its cause and what helps, not by a number of open tasks', async () => {
  await hold('provider', { count: 20, until: Date.now() + 5 * DAY_MS });
  const [found] = (await api.call('GET', '/v1/attention')).body.items;
  expect(found).toMatchObject({ code: 'task.held', gate: 'provider', count: 20, level: 'critical' });
  expect(found.text).toMatch(/^20 tasks wait: .*, until \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC\.$/);
  expect(found.helps).toMatch(/^They start when the provider takes requests again\. Retry them to try now/);
});

const acceptInSession = async (): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x', session: 's' })).id;

const acceptOne = async (): Promise<string> => (await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'x' })).id;

/** As a load has it whose first task is this one. */
function readWait(gate: string | null, id: string, oldestMs: number): Promise<LongWait[]> {
  const waiting = {
    queue: 'tasks',
    band: 'normal',
    source: 'api',
    gate,
    count: 62,
    oldestMs,
    oldest: { tenant: 'default', id },
  } as const;
  return readLongWaits(parts, { waiting: [waiting], running: 0, workers: [] });
}

it('what waits for long is explained by its first task, as `why` does', async () => {
  const [first, second] = [await acceptInSession(), await acceptInSession()];
  expect(await readWait(null, first, 30_000)).toEqual([]);
  await beat(fleet, 'w-1', { ...REPORT, queues: ['tasks'], slots: 28, running: 22 });
  await driveTasks(parts, 'default', 'w-1').start(await acceptOne());
  const slots = '1 of the 28 slots that serve the queue "tasks" are in use';
  expect(await readWait(null, first, 120_000)).toMatchObject([
    { gate: 'queue', count: 62, detail: slots, helps: expect.stringMatching(/slot/) },
  ]);
  const { reasons } = (await api.call('GET', `/v1/tasks/${second}/why`)).body;
  expect(await readWait('lane', second, 900_000)).toMatchObject([{ gate: 'lane', detail: reasons[0].detail }]);
});

it('a Redis that refuses writes is said by every view', async () => {
  await configure('min-replicas-to-write', '1');
  try {
    const [row] = await checkRows({ ...fleet, queues: parts.queues }, 'Redis writes');
    expect(row).toMatch(/^fail Redis writes: Redis refuses writes: NOREPLICAS/);
    // What cannot be stored is in the list all the same.
    expect((await openFindings(parts).look(null)).kept).toMatchObject([{ id: 'redis.refused' }]);
    const text = expect.stringContaining('NOREPLICAS') as string;
    expect(await api.call('GET', '/v1/attention')).toMatchObject({ status: 200, body: { items: [{ id: 'redis.refused', text }] } });
    const checks = { items: expect.arrayContaining([expect.objectContaining({ id: 'redis.refused', state: 'fail' })]) as unknown[] };
    expect(await api.call('GET', '/v1/checks')).toMatchObject({ status: 200, body: checks });
  } finally {
    await configure('min-replicas-to-write', '0');
  }
});
