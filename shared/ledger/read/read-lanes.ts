import { pairs } from '../../redis/index.ts';
import type { Task, SharedLane, TaskBody, TaskState } from '../../tasks/index.ts';
import { laneLimits } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { readTasks } from './read-tasks.ts';

export interface Lane {
  /** Who holds a place, first come first. */
  held: { task: Task; since: number }[];
  /** Who waits, next one first; at most `max`. */
  waiting: Task[];
  waitingTotal: number;
}

/** How often a holder that ends between the reads of its name and its state is read again. */
const TRIES = 3;

/** Who holds a lane and who waits for it. A task that moves meanwhile is in one of the two lists; an ended task is in none. */
export async function readLane(ledger: Ledger, tenant: string, lane: string, max: number): Promise<Lane> {
  for (let tries = 1; ; tries += 1) {
    const found = await readLaneOnce(ledger, tenant, lane, max);
    const held = found.held.filter(({ task }) => task.state.completedAt === undefined);
    if (held.length === found.held.length || tries === TRIES) return { ...found, held };
  }
}

async function readLaneOnce(ledger: Ledger, tenant: string, lane: string, max: number): Promise<Lane> {
  const { waiting, held, waitingTotal } = await readLaneIds(ledger, tenant, lane, max);
  const tasks = await readTasks(ledger, tenant, [...held.keys(), ...waiting]);
  const known = tasks.filter((task) => task !== null);
  const byId = new Map(known.map((task) => [task.body.id, task]));
  return {
    held: [...held].flatMap(([id, since]) => withTask(byId.get(id), since)),
    waiting: waiting.flatMap((id) => byId.get(id) ?? []),
    waitingTotal,
  };
}

function withTask(task: Task | undefined, since: number): Lane['held'] {
  return task ? [{ task, since }] : [];
}

export interface LaneIds {
  /** Task id -> since when it holds a place, ms. */
  held: Map<string, number>;
  waiting: string[];
  waitingTotal: number;
}

/** The same lane, by ids. */
export async function readLaneIds(ledger: Ledger, tenant: string, lane: string, max: number): Promise<LaneIds> {
  const keys = ledger.keys.tenant(tenant);
  // The line first: a task that is granted between the two reads is then in both, and never in none.
  const [waiting, total, held] = await Promise.all([
    ledger.redis.zrange(keys.laneWait(lane), '0', String(max - 1)),
    ledger.redis.zcard(keys.laneWait(lane)),
    ledger.redis.zrange(keys.laneHeld(lane), '0', '-1', 'WITHSCORES'),
  ]);
  const holders = new Map(pairs(held).map(([id, since]) => [id, Number(since)]));
  return { held: holders, waiting: waiting.filter((id) => !holders.has(id)), waitingTotal: total };
}

/** Where a task stands in a lane that it shares. */
export interface SharedPlace {
  name: string;
  /** How many of it run at once. */
  limit: number;
  /** Whether as many of the lane run as may. */
  isFull: boolean;
  /** The task before it: in the line, else among the holders; null for none. */
  before: string | null;
  /** How many wait before it or hold the lane. */
  ahead: number;
  /** The tasks that hold the lane. */
  holders: string[];
}

const TIME_DIGITS = 15;
/** Behind every member of a lane. */
const NO_END = '\u00ff';

/** The places of a task that does not run in the lanes that it shares. See `shared-lanes.lua` for how they are kept. */
export async function readSharedPlaces(
  ledger: Ledger,
  { body, state }: { body: Pick<TaskBody, 'id' | 'tenant'>; state: TaskState },
): Promise<SharedPlace[]> {
  const member = `${state.queue === 'critical' ? '!' : ''}${String(state.createdAt).padStart(TIME_DIGITS, '0')}/${body.id}`;
  const key = ledger.keys.tenant(body.tenant).live;
  const limits = laneLimits(ledger, body.tenant);
  const lanes = (state.sharedLanes ?? []).map(({ name, limit }) => ({ name, limit: limits[name] ?? limit }));
  return await Promise.all(lanes.map((lane) => readPlace(ledger, { key, lane, member, id: body.id })));
}

interface PlaceQuery {
  key: string;
  lane: SharedLane;
  /** Behind the lane's name in its line. */
  member: string;
  id: string;
}

async function readPlace({ redis }: Ledger, { key, lane, member, id }: PlaceQuery): Promise<SharedPlace> {
  const holds = `holds=${lane.name}/`;
  const waits = `waits=${lane.name}/`;
  const [held, line, [previous]] = await Promise.all([
    redis.zrangebylex(key, `[${holds}`, `(${holds}${NO_END}`),
    redis.zlexcount(key, `[${waits}`, `(${waits}${member}`),
    redis.zrevrangebylex(key, `(${waits}${member}`, `[${waits}`, 'LIMIT', 0, 1),
  ]);
  const holders = held.map((each) => each.slice(holds.length)).filter((each) => each !== id);
  const isFull = holders.length >= lane.limit;
  const before = previous?.split('/').at(-1) ?? (isFull ? holders[0] : undefined);
  return { name: lane.name, limit: lane.limit, isFull, before: before ?? null, ahead: line + (isFull ? holders.length : 0), holders };
}
