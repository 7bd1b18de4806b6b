import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { readState } from '#shared/ledger/read/read-states.ts';
import { queueFor, type PriorityInput } from '#shared/tasks/priority.ts';
import { openTestParts } from '../open-test-parts.ts';
import type { FleetCall } from './fleet-client.ts';
import type { Fleet } from './open-fleet.ts';
import type { SlotUse } from './slot-times.ts';

/** The agent of mixed work, for a fleet's settings. */
export const WAITING_AGENT = { wait: { kind: 'function', file: fileURLToPath(import.meta.resolve('./waiting-agent.ts')) } } as const;

/** For a fleet's settings: no limit of a tenant holds anything back. */
export const NO_LIMITS = { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {} };

const AT_ONCE = 40;

export interface MixedTask {
  id: string;
  tenant: string;
  call: FleetCall;
  queue: SlotUse['queue'];
  /** The session whose tasks run one after the other, of a task that has one of several. */
  lane?: string;
}

/** A tenant and a key of it, to submit mixed work with. */
export async function openTenant(fleet: Fleet, id: string): Promise<{ tenant: string; call: FleetCall }> {
  await fleet.client.make('/v1/tenants', { id });
  const { secret } = await fleet.client.make(`/v1/tenants/${id}/keys`, { name: 'of the test', scopes: ['submit'] });
  return { tenant: id, call: { key: String(secret) } };
}

/** One in four is a message, one in ten critical, one in eight low; the others have every priority. */
function kindOf(n: number): { kind: 'message' } | { kind: 'task'; priority: PriorityInput } {
  if (n % 4 === 0) return { kind: 'message' };
  if (n % 10 === 1) return { kind: 'task', priority: 'critical' };
  return { kind: 'task', priority: n % 8 === 2 ? 'low' : 2 + ((n * 7) % 9) };
}

export interface MixedWorkOptions {
  count: number;
  workMs: (n: number) => number;
  tenants: readonly { tenant: string; call: FleetCall }[];
  /** Addresses of the APIs that take them in turn. */
  urls: readonly string[];
  /** Sessions of each tenant, which every third of its tasks of the API is of; by default none is. */
  lanes?: number;
}

/** Submits tasks and messages of every queue and priority, of all tenants in turn. */
export async function submitMixed({ client }: Fleet, { count, workMs, tenants, urls, lanes = 0 }: MixedWorkOptions): Promise<MixedTask[]> {
  const submit = async (_each: unknown, n: number): Promise<MixedTask> => {
    const { tenant, call } = tenants[n % tenants.length] ?? { tenant: 'default', call: {} };
    const options: FleetCall = { ...call, ...(urls.length === 0 ? {} : { url: urls[n % urls.length] ?? '' }) };
    const own = Math.floor(n / tenants.length);
    const kind = kindOf(own);
    const context = { workMs: workMs(n) };
    if (kind.kind === 'task') {
      const lane = lanes > 0 && own % 3 === 0 ? { session: `line-${own % lanes}` } : {};
      const id = await client.submit({ agent: 'wait', input: `${n}`, context, priority: kind.priority, ...lane }, options);
      return { id, tenant, call, queue: queueFor('api', kind.priority, false), ...(lane.session ? { lane: lane.session } : {}) };
    }
    const { status, body } = await client.call('POST', `/v1/sessions/person-${n}/messages`, {
      ...options,
      body: { text: `${n}`, agent: 'wait', context },
    });
    if (status !== 202) throw new Error(`expected 202, got ${status}: ${JSON.stringify(body)}`);
    return { id: String(body.id), tenant, call, queue: 'chat' };
  };
  return await pMap(Array.from({ length: count }), submit, { concurrency: AT_ONCE });
}

/**
 * When the ledger had each attempt of these tasks run. `killedAt`: when processes were killed, by their pid. Nothing runs in them from then
 * on, but the ledger ends their attempts only once their leases have run out.
 */
export async function readUses({ client }: Fleet, tasks: readonly MixedTask[], killedAt: ReadonlyMap<number, number>): Promise<SlotUse[]> {
  const read = async ({ id, tenant, call, queue, lane }: MixedTask): Promise<SlotUse[]> => {
    const [record, attempts] = await Promise.all([client.call('GET', `/v1/tasks/${id}`, call), client.attempts(id, call)]);
    return attempts.map(({ worker, startedAt, endedAt }, position) => ({
      task: id,
      tenant,
      queue,
      priority: Number(record.body.priority),
      acceptedAt: Date.parse(record.body.createdAt),
      grantedAt: Date.parse(record.body.queuedAt),
      startedAt: Date.parse(startedAt),
      endedAt: Math.min(Date.parse(endedAt ?? ''), killedAt.get(pidOf(worker)) ?? Infinity),
      // By its place: an attempt that a kill interrupted does not count, and the next one has its number.
      attempt: position + 1,
      lane: lane === undefined ? undefined : `${tenant}/${lane}`,
    }));
  };
  return (await pMap(tasks, read, { concurrency: AT_ONCE })).flat();
}

/** A worker's name ends with its pid and a few random digits. */
function pidOf(worker: string): number {
  return Number(worker.split('-').at(-2));
}

/**
 * Those of tasks that no kill touched: that ran once, and whose ticket was never lost with a worker that had taken it and not begun. Such a
 * ticket comes back after seconds, and nobody knows of its task meanwhile.
 */
export async function untouchedByKills(redisUrl: string, shards: number, uses: readonly SlotUse[]): Promise<SlotUse[]> {
  const parts = await openTestParts({ redisUrl, env: { SHARDS: `${shards}` } });
  const restarted = new Set(uses.filter(({ attempt }) => attempt > 1).map(({ task }) => task));
  const wasLost = async ({ task, tenant, queue }: SlotUse): Promise<boolean> => {
    const state = await readState(parts.ledger, tenant, task);
    const job = await parts.queues.get(parts.keys.shardOf(tenant), queue).getJob(task);
    return (state?.ticket ?? 1) > 1 || (job?.attemptsStarted ?? 1) > 1;
  };
  const once = uses.filter(({ task }) => !restarted.has(task));
  const areLost = await pMap(once, wasLost, { concurrency: AT_ONCE });
  await parts.close();
  return once.filter((_, position) => !areLost[position]);
}
