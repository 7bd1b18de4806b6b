import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import { hasAttempt, type TaskState } from '../../tasks/index.ts';
import { shardKeys } from '../context.ts';
import { acceptedAtOf, standingText } from '../grants/standing.ts';
import { levelName } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';

type TurnSource = Pick<Ledger, 'redis' | 'keys'>;

/** Behind every ready ticket of a level or a tenant. */
const NO_END = '\u00ff';

/** Where a task stands that waits for room in its queue's window. */
export interface Turn {
  /** Ready tasks of its tenant and priority before it. */
  ahead: number;
  /** All of these, this one included. */
  ready: number;
  /** Tenants that take turns at its priority. */
  tenants: number;
}

/** Whether a task holds a grant and waits for a worker. */
export function isReadyForTicket(state: TaskState | null): boolean {
  return state?.granted === true && !hasAttempt(state.status) && state.notBefore === undefined;
}

/** The turn of a task that has no ticket in BullMQ yet; null for any other. */
export async function readTurn(ledger: TurnSource, tenant: string, id: string, state: TaskState): Promise<Turn | null> {
  if (!isReadyForTicket(state)) return null;
  const { ready, turns } = shardKeys(ledger, tenant);
  const level = levelName(state.queue, state.priority);
  const own = `${level}${tenant}/`;
  const ticket = `${own}${placeOf(id, state)}`;
  const [found, ahead, all, waiting] = await Promise.all([
    ledger.redis.zlexcount(ready, `[${ticket}`, `(${ticket}${NO_END}`),
    countReadyBefore(ledger, tenant, id, state),
    ledger.redis.zlexcount(ready, `[${own}`, `(${own}${NO_END}`),
    countTurns(ledger, turns, level),
  ]);
  return found === 0 ? null : { ahead, ready: all, tenants: waiting };
}

/** How many ready tickets of a tenant and priority go before a task, which need not be among them. */
export async function countReadyBefore(ledger: TurnSource, tenant: string, id: string, state: TaskState): Promise<number> {
  const own = `${levelName(state.queue, state.priority)}${tenant}/`;
  return await ledger.redis.zlexcount(shardKeys(ledger, tenant).ready, `[${own}`, `(${own}${placeOf(id, state)}`);
}

/** Where a task's ticket stands among the ready ones of its tenant and priority. */
function placeOf(id: string, state: TaskState): string {
  return `${standingText(state)}/${id}.`;
}

const RANKS = 10;
const TIMES = 1e14;

async function countTurns({ redis }: TurnSource, turns: string, level: string): Promise<number> {
  const [queue = '', rank] = level.split('/');
  const number = TASK_QUEUES.indexOf(queue as TaskQueue) * RANKS + Number(rank);
  return await redis.zcount(turns, number * TIMES, (number + 1) * TIMES - 1);
}

/** The tickets of a queue and shard that wait for a turn. */
export interface ReadyTickets {
  count: number;
  /** When the oldest of their tasks was accepted, ms since the epoch; Infinity when there is none. */
  oldestAt: number;
}

/** Tenants of which the oldest ready ticket is read. */
const MAX_TENANTS = 100;

/** Counts what is ready in a queue of a shard. With more tenants than are read, the oldest ticket may be another. */
export async function measureReady({ redis, keys }: TurnSource, shard: number, queue: string): Promise<ReadyTickets> {
  const { ready } = keys.shard(shard);
  const end = `(${queue}/${NO_END}`;
  const count = await redis.zlexcount(ready, `[${queue}/`, end);
  let oldestAt = Number.POSITIVE_INFINITY;
  let from = `[${queue}/`;
  for (let tenants = 0; tenants < MAX_TENANTS; tenants += 1) {
    const [first] = await redis.zrangebylex(ready, from, end, 'LIMIT', 0, 1);
    if (first === undefined) break;
    const [, rank = '', tenant = '', standing = ''] = first.split('/');
    oldestAt = Math.min(oldestAt, acceptedAtOf(standing));
    from = `(${queue}/${rank}/${tenant}/${NO_END}`;
  }
  return { count, oldestAt };
}
