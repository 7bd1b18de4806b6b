import pMap from 'p-map';
import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '#shared/config/index.ts';
import { type Ledger, type Lookup, lookupsFor, parseLease, readLookupAfter, readStates, tenantsWithTasks } from '#shared/ledger/index.ts';
import { waitingSince } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { isTerminal, PRIORITY_BANDS, priorityBand, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';
import type { TenantDirectory } from '#shared/tenants/index.ts';

export interface LoadPorts {
  readonly ledger: Ledger;
  readonly tenants: Pick<TenantDirectory, 'list'>;
}

const waitingSchema = z.object({
  queue: z.enum(TASK_QUEUES),
  band: z.enum(PRIORITY_BANDS),
  source: z.enum(SOURCES),
  /** What they wait at before they may run; null for a free slot. */
  gate: z.string().nullable(),
  count: z.number(),
  /** How long the first task that may run has waited for a slot; null while none may run. */
  oldestMs: z.number().nullable(),
});
const loadSchema = z.object({
  waiting: z.array(waitingSchema),
  /** Attempts that run, and workers that run one. */
  running: z.int(),
  workers: z.array(z.string()),
});

/** What waits and what runs, of a tenant or of the fleet. */
export type Load = z.infer<typeof loadSchema>;
type Waiting = Load['waiting'][number];

/** How long a reading counts for every process. */
const FRESH_MS = 1000;
/** A reading counts at least for so many times as long as it took, so that it takes two percent of a core at most. */
const COST_FACTOR = 50;
const MAX_FRESH_MS = 60_000;
/** States that one reading reads; of more waiting tasks the oldest stand for all. */
const MAX_STATES = 2000;
const MIN_STATES_PER_TENANT = 20;
const CONCURRENCY = 10;
const WAITING_STATUSES = ['pending', 'queued', 'failed', 'timeout'] as const satisfies TaskStatus[];
const BEHIND_ALL = '\u00ff';

/** Reads what waits and runs, of all tenants where `tenant` is null. Every process answers the same within a second. */
export async function readLoad(ports: LoadPorts, tenant: string | null): Promise<Load> {
  const { redis, keys } = ports.ledger;
  const key = tenant === null ? keys.fleet.load : keys.tenant(tenant).load;
  const known = await redis.get(key);
  if (known !== null) return loadSchema.parse(JSON.parse(known));
  const startedAt = performance.now();
  const load = await readNow(ports, tenant);
  const freshMs = Math.min(Math.max(FRESH_MS, (performance.now() - startedAt) * COST_FACTOR), MAX_FRESH_MS);
  await redis.set(key, JSON.stringify(load), 'PX', Math.round(freshMs));
  return load;
}

async function readNow({ ledger, tenants }: LoadPorts, tenant: string | null): Promise<Load> {
  const [running, now] = await Promise.all([readRunning(ledger), redisNow(ledger.redis)]);
  const all = tenant === null ? tenants.list() : [{ id: tenant }];
  const busy = [...(await tenantsWithTasks(ledger, all, 'live')).keys()];
  const maxStates = Math.max(MIN_STATES_PER_TENANT, Math.floor(MAX_STATES / Math.max(1, busy.length)));
  const parts = await pMap(busy, (id) => readTenant(ledger, id, { running: running.get(id) ?? new Set(), now, maxStates }), {
    concurrency: CONCURRENCY,
  });
  return {
    waiting: mergeWaiting(parts.flatMap(({ waiting }) => waiting)),
    running: busy.reduce((sum, id) => sum + (running.get(id)?.size ?? 0), 0),
    workers: [...new Set(parts.flatMap(({ workers }) => workers))],
  };
}

/** The tasks that run, by tenant. */
async function readRunning({ redis, keys }: Ledger): Promise<Map<string, Set<string>>> {
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).leases);
  const members = (await Promise.all(shards.map((leases) => redis.zrange(leases, '0', '-1')))).flat();
  const byTenant = Map.groupBy(members.map(parseLease), ({ tenant }) => tenant);
  return new Map([...byTenant].map(([tenant, leases]) => [tenant, new Set(leases.map(({ id }) => id))]));
}

interface TenantReading {
  running: ReadonlySet<string>;
  now: number;
  maxStates: number;
}

async function readTenant(ledger: Ledger, tenant: string, reading: TenantReading): Promise<Pick<Load, 'waiting' | 'workers'>> {
  const lookups = lookupsFor(ledger, tenant, { status: WAITING_STATUSES });
  const waiting = await Promise.all(lookups.map((lookup) => readWaiting(ledger, tenant, lookup, reading)));
  const states = await readStates(ledger, tenant, [...reading.running].slice(0, reading.maxStates));
  // What stands behind it is a process of the worker's, for suspects.
  const workers = states.flatMap((state) => state?.worker?.split('+')[0] ?? []);
  return { waiting: waiting.flat(), workers: [...new Set(workers)] };
}

/** What waits in one lookup. Where that is more than may be read, the oldest stand for all. */
async function readWaiting(ledger: Ledger, tenant: string, lookup: Lookup, { running, now, maxStates }: TenantReading): Promise<Waiting[]> {
  const max = maxStates + running.size;
  const page = await readLookupAfter(ledger, lookup, '', max);
  const ids = page.filter((id) => !running.has(id));
  const states = await readStates(ledger, tenant, ids.slice(0, maxStates));
  const read = states.filter((state) => state !== null && isWaiting(state)).filter((state) => state !== null);
  if (read.length === 0) return [];
  const { key, prefix } = lookup;
  const total = page.length < max ? page.length : await ledger.redis.zlexcount(key, `[${prefix}`, `(${prefix}${BEHIND_ALL}`);
  const unread = Math.max(0, total - (page.length - ids.length) - Math.min(ids.length, maxStates));
  const weight = 1 + unread / read.length;
  return read.map((state) => waitingOf(state, weight, now));
}

/** A claim or an end may have come in between. */
function isWaiting({ status }: TaskState): boolean {
  return status !== 'running' && status !== 'scheduled' && !isTerminal(status);
}

function waitingOf(state: TaskState, count: number, now: number): Waiting {
  const { queue, priority, source, granted, gate } = state;
  const oldestMs = granted ? Math.max(0, now - waitingSince(state)) : null;
  return { queue, band: priorityBand(queue, priority), source, gate: granted ? null : (gate ?? 'lane'), count, oldestMs };
}

/** One entry for all that have queue, band, source and gate in common. */
function mergeWaiting(all: readonly Waiting[]): Waiting[] {
  const groups = Map.groupBy(all, ({ queue, band, source, gate }) => [queue, band, source, gate].join(' '));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const ages = group.flatMap(({ oldestMs }) => oldestMs ?? []);
    const count = Math.round(group.reduce((sum, each) => sum + each.count, 0));
    return [{ ...first, count, oldestMs: ages.length === 0 ? null : Math.max(...ages) }];
  });
}
