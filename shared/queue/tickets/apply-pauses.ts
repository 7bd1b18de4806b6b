import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import type { TaskHold } from '../../errors/index.ts';
import {
  capsOf,
  countAllHeldByGate,
  countHeld,
  countHeldByGate,
  holdTask,
  type Ledger,
  listHoldHeads,
  readStates,
  releaseHeld,
} from '../../ledger/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import type { Queues } from '../queues.ts';
import { ticketId } from './ticket.ts';

export interface PausePorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
}

/** Tasks that are read together. */
const PAGE = 200;
/** Holding tasks grants others, perhaps of the same queues, which the next pass holds. What is left then is the next call's. */
const MAX_PASSES = 50;
/** Tasks of one tenant and queue that one call releases. */
const MAX_RELEASED = 10_000;

/** How many tasks a call held, and how many it released. */
export interface AppliedPauses {
  readonly held: number;
  readonly released: number;
}

/**
 * Holds the tasks of paused queues that keep others waiting: those with a place under their tenant's caps or in shared lanes. They keep their
 * own lane and spend no attempt. Those of queues that were resumed go on. Others of a paused queue wait as they are: they take nothing from
 * anybody. Costs one command a tenant while nothing is paused. `tenants`: those with live tasks.
 */
export async function applyPauses(ports: PausePorts, tenants: readonly string[]): Promise<AppliedPauses> {
  const { ledger } = ports;
  const paused = await readPaused(ports);
  let [held, released] = [0, 0];
  for (const tenant of tenants) {
    const names = paused.get(ledger.keys.shardOf(tenant)) ?? new Set();
    released += await releaseResumed(ledger, tenant, names);
    if (names.size > 0) held += await holdPaused(ports, tenant, names);
  }
  return { held, released };
}

/** The paused queues of tasks, by shard. */
async function readPaused({ queues }: PausePorts): Promise<Map<number, Set<string>>> {
  const all = queues.all().filter(({ name }) => TASK_QUEUES.some((each) => each === name));
  const found = await Promise.all(all.map(async ({ shard, name, queue }) => ((await queue.isPaused()) ? { shard, name } : null)));
  const paused = Map.groupBy(
    found.filter((each) => each !== null),
    ({ shard }) => shard,
  );
  return new Map([...paused].map(([shard, each]) => [shard, new Set(each.map(({ name }) => name))]));
}

/** What holds the tasks of a paused queue. */
function pausedHold(queue: string): TaskHold {
  return { gate: 'paused', what: queue };
}

async function releaseResumed(ledger: Ledger, tenant: string, paused: ReadonlySet<string>): Promise<number> {
  if ((await countHeldByGate(ledger, tenant, 'paused')) === 0) return 0;
  let released = 0;
  for (const { what } of await listHoldHeads(ledger, tenant, 'paused', TASK_QUEUES.length)) {
    if (!paused.has(what)) released += (await releaseHeld(ledger, tenant, pausedHold(what), MAX_RELEASED)).length;
  }
  return released;
}

async function holdPaused(ports: PausePorts, tenant: string, paused: ReadonlySet<string>): Promise<number> {
  let held = 0;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    let count = 0;
    for await (const [id, state] of listTaking(ports.ledger, tenant)) {
      if (state.status === 'queued' && state.granted && paused.has(state.queue)) count += await holdOne(ports, { tenant, id, state });
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

async function holdOne({ ledger, queues }: PausePorts, { tenant, id, state }: Granted): Promise<number> {
  const answer = await holdTask(ledger, { tenant, id, hold: pausedHold(state.queue), until: null });
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

/** Tasks without a ticket by the queue that they wait in: those that wait for a daemon in `remote`, those of paused queues in theirs. */
export async function countHeldByQueue(ledger: Ledger, tenants: readonly string[]): Promise<ReadonlyMap<TaskQueue, number>> {
  const counts = new Map<TaskQueue, number>([['remote', await countAllHeldByGate(ledger, tenants, 'daemon')]]);
  if ((await countAllHeldByGate(ledger, tenants, 'paused')) === 0) return counts;
  for (const tenant of tenants) {
    const held = await Promise.all(TASK_QUEUES.map((queue) => countHeld(ledger, tenant, pausedHold(queue))));
    for (const [at, queue] of TASK_QUEUES.entries()) counts.set(queue, (counts.get(queue) ?? 0) + (held[at] ?? 0));
  }
  return counts;
}
