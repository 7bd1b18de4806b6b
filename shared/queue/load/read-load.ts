import pMap from 'p-map';
import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '../../config/index.ts';
import { type Ledger, type Lookup, lookupsFor, parseLease, readLookupAfter, readStates, tenantsWithTasks } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import { type Gate, sortOf } from '../../errors/index.ts';
import { hasAttempt, isTerminal, PRIORITY_BANDS, priorityBand, type TaskState, type TaskStatus, workerOf } from '../../tasks/index.ts';
import type { TenantDirectory } from '../../tenants/index.ts';
import { type ClosedQueuePorts, readClosedQueues } from '../tickets/closed-queues.ts';
import { waitingSince } from '../why/wait-reason.ts';

export interface LoadPorts extends ClosedQueuePorts {
  readonly tenants: Pick<TenantDirectory, 'list'>;
}

const waitingSchema = z.object({
  queue: z.enum(TASK_QUEUES),
  band: z.enum(PRIORITY_BANDS),
  source: z.enum(SOURCES),
  /** What they wait at before they may run, a closed queue included; null for a free slot. */
  gate: z.string().nullable(),
  count: z.number(),
  /** How long the first of them has waited there; null at a gate that is a time. */
  oldestMs: z.number().nullable(),
  /** That task. */
  oldest: z.object({ tenant: z.string(), id: z.string() }),
});
export const loadSchema = z.object({
  waiting: z.array(waitingSchema),
  /** Attempts that run, and workers that run one. */
  running: z.int(),
  workers: z.array(z.string()),
});

/** What waits and what runs, of a tenant or of the fleet. */
export type Load = z.infer<typeof loadSchema>;
export type Waiting = Load['waiting'][number];

/** A load as it was just read. */
export interface LoadReading extends Load {
  /** States of tasks that it took to read it. */
  states: number;
}

/** States that one reading reads; of more waiting tasks the oldest stand for all. */
const MAX_STATES = 2000;
const MIN_STATES_PER_TENANT = 20;
const CONCURRENCY = 10;
const WAITING_STATUSES = ['pending', 'queued', 'failed', 'timeout'] as const satisfies TaskStatus[];
const BEHIND_ALL = '\u00ff';

/**
 * Reads what waits and runs, of all tenants where `tenant` is null: the one count of what waits, which every page, metric and finding shows.
 * `LoadReader` keeps what was read.
 */
export async function readLoad({ tenants, ...ports }: LoadPorts, tenant: string | null): Promise<LoadReading> {
  const { ledger } = ports;
  const [running, closed, now] = await Promise.all([readRunning(ledger), readClosedQueues(ports), redisNow(ledger.redis)]);
  const all = tenant === null ? tenants.list() : [{ id: tenant }];
  const busy = [...(await tenantsWithTasks(ledger, all, 'live')).keys()];
  const maxStates = Math.max(MIN_STATES_PER_TENANT, Math.floor(MAX_STATES / Math.max(1, busy.length)));
  const readingOf = (id: string): TenantReading => ({
    running: running.get(id) ?? new Set(),
    closed: closed.get(ledger.keys.shardOf(id)) ?? new Map(),
    now,
    maxStates,
  });
  const parts = await pMap(busy, (id) => readTenant(ledger, id, readingOf(id)), { concurrency: CONCURRENCY });
  return {
    waiting: mergeWaiting(parts.flatMap(({ waiting }) => waiting)),
    running: busy.reduce((sum, id) => sum + (running.get(id)?.size ?? 0), 0),
    workers: [...new Set(parts.flatMap(({ workers }) => workers))],
    states: parts.reduce((sum, { states }) => sum + states, 0),
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
  /** Closed queues of its shard, and what closes each. */
  closed: ReadonlyMap<string, Gate>;
  now: number;
  maxStates: number;
}

async function readTenant(ledger: Ledger, tenant: string, reading: TenantReading): Promise<Omit<LoadReading, 'running'>> {
  const lookups = await measureLookups(ledger, lookupsFor(ledger, tenant, { status: WAITING_STATUSES }));
  const total = lookups.reduce((sum, { size }) => sum + size, 0);
  const share = Math.min(1, reading.maxStates / Math.max(1, total));
  const waiting = await Promise.all(lookups.map((lookup) => readWaiting(ledger, tenant, lookup, { ...reading, share })));
  const states = await readStates(ledger, tenant, [...reading.running].slice(0, reading.maxStates));
  // What stands behind it is a process of the worker's, for suspects.
  const workers = states.flatMap((state) => (state?.worker === undefined ? [] : workerOf(state.worker)));
  return { waiting: waiting.flat(), workers: [...new Set(workers)], states: Math.min(total, reading.maxStates) + states.length };
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
  { running, closed, now, share }: WaitingReading,
): Promise<Waiting[]> {
  const max = Math.max(MIN_STATES_PER_TENANT, Math.ceil(lookup.size * share));
  const page = await readLookupAfter(ledger, lookup, '', max + running.size);
  const ids = page.filter((id) => !running.has(id));
  const states = await readStates(ledger, tenant, ids.slice(0, max));
  const read = states.flatMap((state, at) => (state !== null && isWaiting(state) ? [{ id: ids[at] ?? '', state }] : []));
  if (read.length === 0) return [];
  const unread = Math.max(0, lookup.size - (page.length - ids.length) - Math.min(ids.length, max));
  const weight = 1 + unread / read.length;
  return read.map(({ id, state }) => {
    const { queue, priority, source } = state;
    const gate = gateOf(state, closed);
    const oldestMs = gate !== null && sortOf(gate) === 'time' ? null : Math.max(0, now - waitingSince(state));
    return { queue, band: priorityBand(queue, priority), source, gate, count: weight, oldestMs, oldest: { tenant, id } };
  });
}

/** A claim or an end may have come in between. */
function isWaiting({ status }: TaskState): boolean {
  return !hasAttempt(status) && !isTerminal(status);
}

/** A closed queue keeps a task waiting that would only need a slot. */
function gateOf({ granted, gate, queue }: TaskState, closed: TenantReading['closed']): Gate | null {
  return granted ? (closed.get(queue) ?? null) : (gate ?? 'lane');
}

/** One entry for all that have queue, band, source and gate in common. */
function mergeWaiting(all: readonly Waiting[]): Waiting[] {
  const groups = Map.groupBy(all, ({ queue, band, source, gate }) => [queue, band, source, gate].join(' '));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const oldest = group.reduce((one, other) => ((other.oldestMs ?? -1) > (one.oldestMs ?? -1) ? other : one), first);
    return [{ ...oldest, count: Math.round(group.reduce((sum, each) => sum + each.count, 0)) }];
  });
}
