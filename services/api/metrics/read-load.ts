import pMap from 'p-map';
import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '#shared/config/index.ts';
import { type Ledger, type Lookup, lookupsFor, parseLease, readLookupAfter, readStates, tenantsWithTasks } from '#shared/ledger/index.ts';
import { waitingSince } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { hasAttempt, isTerminal, PRIORITY_BANDS, priorityBand, type TaskState, type TaskStatus } from '#shared/tasks/index.ts';
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
export const loadSchema = z.object({
  waiting: z.array(waitingSchema),
  /** Attempts that run, and workers that run one. */
  running: z.int(),
  workers: z.array(z.string()),
});

/** What waits and what runs, of a tenant or of the fleet. */
export type Load = z.infer<typeof loadSchema>;
type Waiting = Load['waiting'][number];

/** States that one reading reads; of more waiting tasks the oldest stand for all. */
const MAX_STATES = 2000;
const MIN_STATES_PER_TENANT = 20;
const CONCURRENCY = 10;
const WAITING_STATUSES = ['pending', 'queued', 'failed', 'timeout'] as const satisfies TaskStatus[];
const BEHIND_ALL = '\u00ff';

/** Reads what waits and runs, of all tenants where `tenant` is null. Many waiting tasks cost a tenth of a second: `LoadReader` keeps what was read. */
export async function readLoad({ ledger, tenants }: LoadPorts, tenant: string | null): Promise<Load> {
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
  const lookups = await measureLookups(ledger, lookupsFor(ledger, tenant, { status: WAITING_STATUSES }));
  const total = lookups.reduce((sum, { size }) => sum + size, 0);
  const share = Math.min(1, reading.maxStates / Math.max(1, total));
  const waiting = await Promise.all(lookups.map((lookup) => readWaiting(ledger, tenant, lookup, { ...reading, share })));
  const states = await readStates(ledger, tenant, [...reading.running].slice(0, reading.maxStates));
  // What stands behind it is a process of the worker's, for suspects.
  const workers = states.flatMap((state) => state?.worker?.split('+')[0] ?? []);
  return { waiting: waiting.flat(), workers: [...new Set(workers)] };
}

interface MeasuredLookup extends Lookup {
  /** Tasks that it has. */
  size: number;
}

async function measureLookups({ redis }: Ledger, lookups: readonly Lookup[]): Promise<MeasuredLookup[]> {
  const sizes = await Promise.all(lookups.map(({ key, prefix }) => redis.zlexcount(key, `[${prefix}`, `(${prefix}${BEHIND_ALL}`)));
  return lookups.map((lookup, position) => ({ ...lookup, size: sizes[position] ?? 0 }));
}

interface WaitingReading extends TenantReading {
  /** Part of the tasks of each lookup that is read, from 0 to 1: the oldest, which stand for all. */
  share: number;
}

/** What waits in one lookup. */
async function readWaiting(
  ledger: Ledger,
  tenant: string,
  lookup: MeasuredLookup,
  { running, now, share }: WaitingReading,
): Promise<Waiting[]> {
  const max = Math.max(MIN_STATES_PER_TENANT, Math.ceil(lookup.size * share));
  const page = await readLookupAfter(ledger, lookup, '', max + running.size);
  const ids = page.filter((id) => !running.has(id));
  const states = await readStates(ledger, tenant, ids.slice(0, max));
  const read = states.filter((state) => state !== null && isWaiting(state)).filter((state) => state !== null);
  if (read.length === 0) return [];
  const unread = Math.max(0, lookup.size - (page.length - ids.length) - Math.min(ids.length, max));
  const weight = 1 + unread / read.length;
  return read.map((state) => waitingOf(state, weight, now));
}

/** A claim or an end may have come in between. */
function isWaiting({ status }: TaskState): boolean {
  return !hasAttempt(status) && !isTerminal(status);
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
