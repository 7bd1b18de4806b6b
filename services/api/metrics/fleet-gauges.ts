import type { Registry } from 'prom-client';
import { SUSPENDED_GATES } from '#shared/errors/index.ts';
import { countAllHeldByGate, type Ledger } from '#shared/ledger/index.ts';
import { listBusyWorkers, type Load, type LoadPorts, LoadReader, readFleetPressure, type WorkerRecord } from '#shared/queue/index.ts';
import { listThrottles, modelLabels } from '#shared/providers/index.ts';
import { redisNow, type ShardKeys } from '#shared/redis/index.ts';
import { addFamily, type FamilyOptions } from './fleet-families.ts';
import { daemonGauges } from './daemon-gauges.ts';
import { type GaugeOptions, memoize, type Values } from './gauge.ts';
import { healthGauges } from './health-gauges.ts';
import { type TenantGaugePorts, tenantGauges } from './tenant-gauges.ts';

/** Registers what the fleet is now; one reading serves all gauges of a scrape. */
export function addFleetGauges(registry: Registry, ports: TenantGaugePorts): void {
  const loads = new LoadReader(ports);
  const load = memoize(() => loads.read(null));
  const shards = memoize(() => readShards(ports.ledger));
  const gauges = [
    ...loadGauges(load),
    ...shardGauges(shards),
    fleetPressure(ports.ledger),
    ...workerGauges(ports.ledger),
    ...daemonGauges(ports.ledger),
    ...providerGauges(ports.ledger),
    suspendedGauge(ports),
    ...tenantGauges(ports),
    ...healthGauges(ports),
  ];
  for (const { name, help, read } of gauges) {
    const samples: FamilyOptions['read'] = async () => (await read()).map(([labels, value]) => ({ labels, value }));
    addFamily(registry, { name, help, type: 'gauge', read: samples });
  }
}

function loadGauges(load: () => Promise<Load>): GaugeOptions[] {
  return [
    {
      name: 'muster_tasks_waiting',
      help: 'Tasks that have not ended and do not run',
      read: async () => sumBy((await load()).waiting, ({ queue, band, source, count }) => [{ queue, band, source }, count]),
    },
    {
      name: 'muster_tasks_parked',
      help: 'Of these, tasks that may not run yet, by what they wait for',
      read: async () => sumBy((await load()).waiting, ({ gate, count }) => (gate === null ? null : [{ gate }, count])),
    },
    {
      name: 'muster_oldest_waiting_seconds',
      help: 'How long the oldest task that may run has waited for a slot',
      read: async () => {
        const aged = (await load()).waiting.flatMap(({ queue, gate, oldestMs }) =>
          oldestMs === null || (gate !== null && gate !== 'worker') ? [] : [{ queue, oldestMs }],
        );
        const byQueue = Map.groupBy(aged, ({ queue }) => queue);
        return [...byQueue].map(([queue, all]) => [{ queue }, Math.max(...all.map(({ oldestMs }) => oldestMs)) / 1000]);
      },
    },
    { name: 'muster_attempts_running', help: 'Attempts that run', read: async () => [[{}, (await load()).running]] },
  ];
}

/** Sums values with equal labels. An entry without a value is left out. */
function sumBy<T>(entries: readonly T[], valueOf: (entry: T) => Values[number] | null): Values {
  const sums = new Map<string, Values[number]>();
  for (const value of entries.flatMap((entry) => [valueOf(entry)])) {
    if (value === null) continue;
    const name = JSON.stringify(value[0]);
    sums.set(name, [value[0], value[1] + (sums.get(name)?.[1] ?? 0)]);
  }
  return [...sums.values()];
}

/** What the sets of all shards hold. */
interface ShardSums {
  outbox: number;
  orphans: number;
  deliveries: number;
  scheduleLateMs: number;
  pressure: string[];
}

async function readShards({ redis, keys }: Ledger): Promise<ShardSums> {
  const now = await redisNow(redis);
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard));
  const sum = async (count: (shard: ShardKeys) => Promise<number>): Promise<number> =>
    (await Promise.all(shards.map(count))).reduce((total, each) => total + each, 0);
  const [outbox, orphans, deliveries, firsts, pressure] = await Promise.all([
    sum(({ outbox: key }) => redis.zcard(key)),
    sum(({ leases }) => redis.zcount(leases, '-inf', now)),
    sum(({ deliveriesDue }) => redis.zcard(deliveriesDue)),
    Promise.all(shards.map(({ schedulesDue }) => redis.zrange(schedulesDue, '0', '0', 'WITHSCORES'))),
    Promise.all(shards.map((shard) => redis.hvals(shard.pressure))),
  ]);
  const late = firsts.map(([, at]) => (at === undefined ? 0 : now - Number(at)));
  return { outbox, orphans, deliveries, scheduleLateMs: Math.max(0, ...late), pressure: pressure.flat() };
}

function fleetPressure(ledger: Ledger): GaugeOptions {
  return {
    name: 'muster_fleet_pressure',
    help: "Level of the fleet's load: 0, 1 for warning, 2 for critical",
    read: async () => [[{}, ['none', ...PRESSURE_LEVELS].indexOf((await readFleetPressure(ledger)).level)]],
  };
}

const PRESSURE_LEVELS = ['warning', 'critical'] as const;

function shardGauges(read: () => Promise<ShardSums>): GaugeOptions[] {
  const one = (name: string, help: string, valueOf: (sums: ShardSums) => number): GaugeOptions => ({
    name,
    help,
    read: async () => [[{}, valueOf(await read())]],
  });
  return [
    one('muster_outbox_entries', 'Calls whose tickets may not be in BullMQ yet', ({ outbox }) => outbox),
    one('muster_attempts_orphaned', 'Attempts whose lease ran out and that no worker has reclaimed yet', ({ orphans }) => orphans),
    one('muster_deliveries_pending', 'Deliveries that are not done', ({ deliveries }) => deliveries),
    one('muster_schedules_late_seconds', 'How late the latest due occurrence is', ({ scheduleLateMs }) => scheduleLateMs / 1000),
    {
      name: 'muster_tenants_pressed',
      help: 'Tenants whose load reached a level',
      read: async () => {
        const { pressure } = await read();
        return PRESSURE_LEVELS.map((level) => [{ level }, pressure.filter((each) => each === level).length]);
      },
    },
  ];
}

function workerGauges(ledger: Ledger): GaugeOptions[] {
  const workers = memoize(() => listBusyWorkers(ledger));
  return [
    {
      name: 'muster_workers',
      help: 'Workers by status',
      read: async () => sumBy(await workers(), ({ role, status }) => (role === 'worker' ? [{ status }, 1] : null)),
    },
    {
      name: 'muster_hubs',
      help: 'Hubs by status',
      read: async () => sumBy(await workers(), ({ role, status }) => (role === 'hub' ? [{ status }, 1] : null)),
    },
    {
      name: 'muster_worker_slots',
      help: 'Tasks that workers can run at once, and tasks that they run',
      read: async () => {
        const live = (await workers()).filter(({ role, status }) => role === 'worker' && status !== 'dead');
        const sum = (count: (worker: WorkerRecord) => number | null): number => live.reduce((total, each) => total + (count(each) ?? 0), 0);
        return [
          [{ state: 'offered' }, sum(({ slots }) => slots)],
          [{ state: 'used' }, sum(({ running }) => running)],
        ];
      },
    },
  ];
}

/** Gates at which runs wait without a slot. */
function suspendedGauge({ ledger, tenants }: LoadPorts): GaugeOptions {
  const count = memoize(async (): Promise<Values> => {
    const ids = tenants.list().map(({ id }) => id);
    return await Promise.all(
      SUSPENDED_GATES.map(async (gate): Promise<Values[number]> => [{ gate }, await countAllHeldByGate(ledger, ids, gate)]),
    );
  });
  return { name: 'muster_suspended', help: 'Runs that wait without a slot, by what they wait for', read: count };
}

function providerGauges(ledger: Ledger): GaugeOptions[] {
  const { settings } = ledger;
  const throttles = memoize(() => listThrottles(ledger, settings.throttle.maxRecords));
  return [
    {
      name: 'muster_model_tasks_waiting',
      help: 'Tasks that wait for a call of a model',
      read: async () => sumBy(await throttles(), (throttle) => [modelLabels(settings, throttle), throttle.waitingTasks]),
    },
    {
      name: 'muster_model_walls',
      help: 'Models whose account or day has no calls left',
      read: async () => sumBy(await throttles(), (throttle) => [modelLabels(settings, throttle), throttle.block?.kind === 'wall' ? 1 : 0]),
    },
  ];
}
