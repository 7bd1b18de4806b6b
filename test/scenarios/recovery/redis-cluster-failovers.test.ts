import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKeys } from '#shared/redis/keys.ts';
import type { FleetCall, TaskView } from '../../support/fleet/fleet-client.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { startRedisCluster, type RedisCluster } from '../../support/redis/redis-cluster.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const KILLS = testEnvironment.isChaos ? 5 : 2;
const SHARDS = 4;
const keys = createKeys(SHARDS);
/** One on each shard. */
const TENANTS = ['acme', 'gamma', 'blue', 'kappa', 'tau', 'c'].filter(
  (tenant, position, all) => all.findIndex((other) => keys.shardOf(other) === keys.shardOf(tenant)) === position,
);
/** Of the queues `background`, `tasks` and `critical`; the second is the load's. */
const PRIORITIES = ['low', 'normal', 'critical'] as const;
const UNLIMITED = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
/** From a new master on, until a task of every shard and every schedule has run: a stop is noticed and repaired in this time, on a busy machine too. */
const MOVES_MS = 30_000;

let cluster: RedisCluster;
let fleet: Fleet;
let callers: FleetCall[];

beforeEach(async () => {
  cluster = await startRedisCluster();
  const env = { REDIS_URL: cluster.url, SHARDS: String(SHARDS) };
  fleet = await openFleet({ env, settings: { limits: { tenant: UNLIMITED }, worker: { leaseMs: 4000 }, scheduler: { maxFailures: 0 } } });
}, 120_000);
afterEach(async () => {
  await fleet.stop();
  await cluster.stop();
});

/** Submits on every shard, except while paused, and keeps the accepted tasks. */
function load(): {
  accepted: { id: string; caller: FleetCall }[];
  hold: () => Promise<void>;
  release: () => void;
  stop: () => Promise<void>;
} {
  const accepted: { id: string; caller: FleetCall }[] = [];
  let gate: PromiseWithResolvers<void> | null = null;
  const inFlight = new Set<Promise<void>>();
  const submit = async (caller: FleetCall): Promise<void> => {
    const body = { agent: 'echo', input: 'one two three', context: { paceMs: 100 } };
    const answer = await fleet.client.call('POST', '/v1/tasks', { ...caller, body }).catch(() => null);
    if (answer?.status === 202) accepted.push({ id: answer.body.id, caller });
  };
  const sides = callers.map((caller) =>
    repeatUntilStopped(async () => {
      await gate?.promise;
      const submitting = submit(caller).finally(() => inFlight.delete(submitting));
      inFlight.add(submitting);
      await submitting;
    }, 50),
  );
  const release = (): void => {
    gate?.resolve();
    gate = null;
  };
  return {
    accepted,
    hold: async () => {
      gate = Promise.withResolvers();
      await Promise.all(inFlight);
    },
    release,
    stop: async () => {
      release();
      await Promise.all(sides.map((side) => side.stop()));
    },
  };
}

async function startFleet(): Promise<ServiceProcess[]> {
  const api = await fleet.start('api');
  // One worker, since a second one would hide that the first takes nothing more.
  const others = await Promise.all([fleet.start('worker'), fleet.start('scheduler')]);
  callers = [];
  for (const id of TENANTS) {
    await fleet.client.make('/v1/tenants', { id });
    const { secret } = await fleet.client.make(`/v1/tenants/${id}/keys`, { name: 'all', scopes: ['admin'] });
    callers.push({ key: secret });
  }
  return [api, ...others];
}

/** Runs of each tenant's schedule that were fired since a moment. */
async function runsSince(since: string): Promise<number[]> {
  const pages = await Promise.all(callers.map((caller) => fleet.client.call('GET', `/v1/runs?since=${since}`, caller)));
  return pages.map(({ body }) => (body.items ?? []).length);
}

interface Wish {
  caller: FleetCall;
  priority: (typeof PRIORITIES)[number];
}

/** Waits until a new task of every queue and shard has run and every schedule has fired. Answers how long that took. */
async function untilAllMoves(): Promise<number> {
  const [from, since] = [performance.now(), new Date().toISOString()];
  const submitOne = async ({ caller, priority }: Wish): Promise<TaskView | undefined> => {
    const submit = (): Promise<string> => fleet.client.submit({ agent: 'echo', priority }, caller);
    const id = await waitFor(submit, { deadlineMs: MOVES_MS, everyMs: 100, what: 'a 202' });
    const [task] = await fleet.client.ended([id], MOVES_MS, caller);
    return task;
  };
  const wishes = callers.flatMap((caller) => PRIORITIES.map((priority): Wish => ({ caller, priority })));
  const tasks = await Promise.all(wishes.map(submitOne));
  expect(tasks.map((task) => task?.status)).toEqual(wishes.map(() => 'completed'));
  const haveFired = async (): Promise<boolean> => (await runsSince(since)).every((runs) => runs > 0);
  await waitFor(haveFired, { deadlineMs: MOVES_MS, everyMs: 200, what: 'every schedule to fire' });
  return performance.now() - from;
}

it('of a cluster under load whose masters are killed in turn nothing accepted is lost, and all of it goes on moving', async () => {
  const processes = await startFleet();
  for (const caller of callers) await fleet.client.make('/v1/schedules', { every: '2s', agent: 'echo', message: 'tick' }, caller);
  const loading = load();
  await untilAllMoves();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const key = keys.shard(kill % SHARDS).outbox;
    // A replica that is behind loses what it has not got. What is promised is what both had: acceptance waits for that here, work does not.
    await loading.hold();
    await cluster.replicate(key);
    await cluster.killMasterOf(key, loading.release);
  }
  // Not between two kills: what stops is what was still busy with the one before.
  const movedMs = await untilAllMoves();
  await untilAllMoves();
  await loading.stop();
  const { accepted } = loading;
  const byCaller = Map.groupBy(accepted, ({ caller }) => caller);
  for (const [caller, tasks] of byCaller) {
    const ended = await fleet.client.ended(
      tasks.map(({ id }) => id),
      60_000,
      caller,
    );
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
  }
  const isReady = async (): Promise<boolean> => {
    const probes = await Promise.all(processes.map(({ url }) => fleet.client.call('GET', '/readyz', { url, key: null })));
    return probes.every(({ status }) => status === 200);
  };
  await waitFor(isReady, { deadlineMs: MOVES_MS, everyMs: 200, what: 'every process to be ready' });
  const reopened = processes.flatMap(({ lines }) => lines).filter(({ event }) => /^(queue|subscription)\.reopened$/.test(event ?? ''));
  reportFigure(
    `${KILLS} masters of a cluster killed`,
    `${accepted.length} tasks answered 202, none lost; all moves after ${Math.round(movedMs)} ms; ${reopened.length} consumers opened again`,
  );
}, 600_000);
