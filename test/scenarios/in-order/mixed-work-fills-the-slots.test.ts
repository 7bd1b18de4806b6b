import { afterEach, expect, it } from 'vitest';
import { createKeys } from '#shared/redis/keys.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { NO_LIMITS, openTenant, readUses, submitMixed, untouchedByKills, WAITING_AGENT } from '../../support/fleet/mixed-work.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { type Capacity, idleTime, maxAtOnce, passedOver, type SlotUse } from '../../support/fleet/slot-times.ts';
import { testEnvironment } from '../../support/test-environment.ts';

interface Mix {
  /** Of each worker: critical 2 with 10 others is 12 slots, of which 2 are for critical tasks only. */
  queues: string;
  workers: number;
  shards: number;
  /** Of the fleet; null for none. */
  cap: number | null;
  capacity: Capacity;
  tasks: number;
  workMs: (n: number) => number;
  /** Between two kills of a worker, whose place another one takes. */
  killEveryMs?: number;
}

const WIDE = 'critical=2,chat=4,tasks=4,background=2,maintenance=1';
const EVEN = 'critical=1,chat=1,tasks=1,background=1,maintenance=1';
const NARROW = 'critical=1,chat=6,tasks=1,background=1,maintenance=1';

const short = (n: number): number => 20 + (n % 5) * 10;
const medium = (n: number): number => 100 + (n % 7) * 25;
const long = (n: number): number => 600 + (n % 7) * 150;

/** Of the cap, one is kept for critical tasks unless it is the only one. */
const capOf = (cap: number): Pick<Mix, 'cap' | 'capacity'> => ({ cap, capacity: { total: cap, ordinary: Math.max(1, cap - 1) } });
const NO_WAITS = { warningWaitMs: null, criticalWaitMs: null };
const WITHOUT_CAP = { cap: null, capacity: { total: 24, ordinary: 20 } };

const SMALL: Record<string, Mix> = {
  'one at a time': { queues: EVEN, workers: 2, shards: 1, ...capOf(1), tasks: 60, workMs: short },
  'in all slots of two workers': { queues: WIDE, workers: 2, shards: 1, ...WITHOUT_CAP, tasks: 120, workMs: long },
};

const FULL: Record<string, Mix> = {
  'one at a time': { queues: EVEN, workers: 4, shards: 1, ...capOf(1), tasks: 1000, workMs: short },
  'two at a time': { queues: NARROW, workers: 4, shards: 4, ...capOf(2), tasks: 2000, workMs: short },
  'three at a time': { queues: WIDE, workers: 4, shards: 2, ...capOf(3), tasks: 5000, workMs: short },
  'three at a time, each for longer': { queues: EVEN, workers: 3, shards: 1, ...capOf(3), tasks: 300, workMs: long },
  'three at a time, while workers are killed': {
    queues: NARROW,
    workers: 4,
    shards: 2,
    ...capOf(3),
    tasks: 500,
    workMs: medium,
    killEveryMs: 5000,
  },
  'in all slots of two workers': { queues: WIDE, workers: 2, shards: 1, ...WITHOUT_CAP, tasks: 1000, workMs: long },
};

const APIS = testEnvironment.isChaos ? 2 : 1;
/** Tickets from two processes may overtake each other on their way to BullMQ. */
const TRAVEL_MS = 1000;
const PAGE = 30;
const ENDED_MS = 900_000;

let fleet: Fleet;
afterEach(async () => {
  await fleet.stop();
});

it.each(Object.entries(testEnvironment.isChaos ? FULL : SMALL))('mixed work runs in its order, %s', async (name, mix) => {
  const uses = await runMixed(mix);
  const { idleMs, slotMs, starts } = idleTime(uses, mix.capacity);
  const compared = mix.killEveryMs === undefined ? uses : await untouchedByKills(fleet.redis.url, mix.shards, uses);
  const keys = createKeys(mix.shards);
  // Several shards have an order each, so that a task is compared with those of its own.
  const over = [...Map.groupBy(compared, ({ tenant }) => keys.shardOf(tenant)).values()].flatMap((ofShard) =>
    passedOver(ofShard, mix.capacity.total, APIS === 1 ? 0 : TRAVEL_MS),
  );
  const max = maxAtOnce(uses);
  reportFigure(
    name,
    `${mix.tasks} tasks, idle ${(idleMs / 1000).toFixed(1)} of ${(slotMs / 1000).toFixed(1)} slot-seconds ` +
      `(${((100 * idleMs) / slotMs).toFixed(2)} %, ${(idleMs / starts).toFixed(1)} ms for each start), ` +
      `${over.length} of ${new Set(compared.map(({ task }) => task)).size} passed over, ${max.total} at once, ${max.ordinary} ordinary`,
  );
  expect(max.total).toBeLessThanOrEqual(mix.capacity.total);
  expect(max.ordinary).toBeLessThanOrEqual(mix.capacity.ordinary);
  expect(over).toEqual([]);
  // Slots that belonged to queues would be idle for more than half of the time. The shortest tasks take less than a loaded machine's trips.
  expect(mix.workMs === long ? idleMs / slotMs : 0).toBeLessThan(0.5);
});

/** All is accepted before the first worker starts, so that the order is known. */
async function runMixed({ queues, workers, shards, cap, tasks, workMs, killEveryMs }: Mix): Promise<SlotUse[]> {
  fleet = await openFleet({
    env: { MUSTER_QUEUES: queues, SHARDS: `${shards}`, ...(cap === null ? {} : { MUSTER_MAX_CONCURRENT: `${cap}` }) },
    settings: {
      agents: WAITING_AGENT,
      limits: { tenant: NO_LIMITS, backpressure: { warningDepth: 50_000, ...NO_WAITS, fleet: NO_WAITS } },
    },
  });
  const urls = (await Promise.all(Array.from({ length: APIS }, () => fleet.start('api')))).map(({ url }) => url);
  const tenants = [{ tenant: 'default', call: {} }, await openTenant(fleet, 'acme'), await openTenant(fleet, 'other')];
  const submitted = await submitMixed(fleet, { count: tasks, workMs, tenants, urls });
  const started: ServiceProcess[] = await Promise.all(Array.from({ length: workers }, () => fleet.start('worker')));
  const killedAt = new Map<number, number>();
  const kill = async (): Promise<void> => {
    const victim = started.shift();
    await victim?.kill();
    killedAt.set(victim?.pid ?? 0, Date.now());
    started.push(await fleet.start('worker'));
  };
  const kills = killEveryMs === undefined ? null : repeatUntilStopped(kill, killEveryMs);
  // A page at a time: reading all that still wait, again and again, would take the processor from what is measured.
  for (let from = 0; from < tasks; from += PAGE) {
    const page = submitted.slice(from, from + PAGE);
    for (const { tenant, call } of tenants) {
      const own = page.filter((each) => each.tenant === tenant).map(({ id }) => id);
      const ended = await fleet.client.ended(own, ENDED_MS, call);
      expect(ended.map(({ status }) => status)).toEqual(own.map(() => 'completed'));
    }
  }
  await kills?.stop();
  return await readUses(fleet, submitted, killedAt);
}
