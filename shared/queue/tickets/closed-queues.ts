import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import {
  capsOf,
  countHeld,
  countHeldByGate,
  holdTask,
  type Ledger,
  listHoldHeads,
  readStates,
  releaseHeld,
  tenantsWithTasks,
} from '../../ledger/index.ts';
import type { TenantDirectory } from '../../tenants/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import type { Queues } from '../queues.ts';
import { listUnservedQueues } from '../registry/unserved-queues.ts';
import { ticketId } from './ticket.ts';

export interface ClosedQueuePorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
}

export interface HeldPorts {
  readonly ledger: Ledger;
  readonly tenants: Pick<TenantDirectory, 'list'>;
}

/** What closes a queue, so that none of its tasks starts: a person paused it, or no worker has served it for a while. */
const CLOSING_GATES = ['paused', 'worker'] as const;

type ClosingGate = (typeof CLOSING_GATES)[number];

/** Closed queues of a shard, and why. */
type ClosedQueues = ReadonlyMap<string, ClosingGate>;

/** Tasks that are read together. */
const PAGE = 200;
/** Holding tasks grants others, perhaps of the same queues, which the next pass holds. What is left then is the next call's. */
const MAX_PASSES = 50;
/** Tasks of one tenant and queue that one call releases. */
const MAX_RELEASED = 10_000;

/** How many tasks a call held, and how many it released. */
export interface AppliedClosures {
  readonly held: number;
  readonly released: number;
}

/** Whether the hold ends when the task's queue is open, or the task comes to another one. */
export function isOfClosedQueue(hold: TaskHold): boolean {
  return CLOSING_GATES.some((gate) => gate === hold.gate);
}

/**
 * Holds the tasks of closed queues that keep others waiting: those with a place under their tenant's caps or in shared lanes. They keep their
 * own lane and spend no attempt. Those of queues that are open again go on. Others of a closed queue wait as they are: they take nothing from
 * anybody. Costs two commands a tenant while nothing is closed. `tenants`: those with live tasks.
 */
export async function applyClosedQueues(ports: ClosedQueuePorts, tenants: readonly string[]): Promise<AppliedClosures> {
  const { ledger } = ports;
  const closed = await readClosedQueues(ports);
  let [held, released] = [0, 0];
  for (const tenant of tenants) {
    const names = closed.get(ledger.keys.shardOf(tenant)) ?? new Map();
    released += await releaseOpened(ledger, tenant, names);
    if (names.size > 0) held += await holdClosed(ports, tenant, names);
  }
  return { held, released };
}

/** The closed queues of tasks, by shard: each with what closes it. */
export async function readClosedQueues({ queues, ledger }: ClosedQueuePorts): Promise<ReadonlyMap<number, ClosedQueues>> {
  const all = queues.all().filter(({ name }) => TASK_QUEUES.some((each) => each === name));
  const unserved = await listUnservedQueues(ledger);
  const found = await Promise.all(
    all.map(async ({ shard, name, queue }) => {
      if (await queue.isPaused()) return { shard, name, gate: 'paused' as const };
      return unserved.some((each) => each === name) ? { shard, name, gate: 'worker' as const } : null;
    }),
  );
  const closed = Map.groupBy(
    found.filter((each) => each !== null),
    ({ shard }) => shard,
  );
  return new Map([...closed].map(([shard, each]) => [shard, new Map(each.map(({ name, gate }) => [name, gate]))]));
}

async function releaseOpened(ledger: Ledger, tenant: string, closed: ClosedQueues): Promise<number> {
  let released = 0;
  for (const gate of CLOSING_GATES) {
    if ((await countHeldByGate(ledger, tenant, gate)) === 0) continue;
    for (const { what } of await listHoldHeads(ledger, tenant, gate, TASK_QUEUES.length)) {
      if (closed.get(what) !== gate) released += (await releaseHeld(ledger, tenant, { gate, what }, MAX_RELEASED)).length;
    }
  }
  return released;
}

async function holdClosed(ports: ClosedQueuePorts, tenant: string, closed: ClosedQueues): Promise<number> {
  let held = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    let count = 0;
    for await (const [id, state] of listTaking(ports.ledger, tenant)) {
      const gate = closed.get(state.queue);
      if (gate === undefined || state.status !== 'queued' || !state.granted) continue;
      count += await holdOne(ports, { tenant, id, state }, { gate, what: state.queue });
    }
    held += count;
    if (count === 0) break;
  }
  return held;
}

interface Granted {
  tenant: string;
  id: string;
  state: TaskState;
}

async function holdOne({ ledger, queues }: ClosedQueuePorts, { tenant, id, state }: Granted, hold: TaskHold): Promise<number> {
  const answer = await holdTask(ledger, { tenant, id, hold, until: null });
  if (answer === 'gone') return 0;
  // A ticket that stays here is harmless, because the next one has another number, but the board would list it.
  await queues
    .get(ledger.keys.shardOf(tenant), state.queue)
    .remove(ticketId(id, state.ticket))
    .catch(() => 0);
  return 1;
}

/** A tenant's tasks that take a place from others: all that are granted under caps, else those in shared lanes. */
async function* listTaking(ledger: Ledger, tenant: string): AsyncGenerator<[id: string, state: TaskState]> {
  const { live } = ledger.keys.tenant(tenant);
  const prefix = capsOf(ledger, tenant) === null ? 'holds=' : 'granted=';
  let from = `[${prefix}`;
  for (;;) {
    const members = await ledger.redis.zrangebylex(live, from, `(${prefix}\u00ff`, 'LIMIT', 0, PAGE);
    const ids = members.map((member) => member.slice(member.lastIndexOf('/') + 1));
    const states = await readStates(ledger, tenant, ids);
    for (const [at, id] of ids.entries()) if (states[at]) yield [id, states[at]];
    if (members.length < PAGE) return;
    from = `(${members.at(-1)}`;
  }
}

/** Whether tasks of a queue are held until a worker serves it. */
export async function isHeldForWorker({ ledger, tenants }: HeldPorts, queue: TaskQueue): Promise<boolean> {
  for (const tenant of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys())
    if ((await countHeld(ledger, tenant, { gate: 'worker', what: queue })) > 0) return true;
  return false;
}
