import { pairs } from '../../redis/index.ts';
import type { Task, TaskBody, TaskState } from '../../tasks/index.ts';
import { runInContext } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { readTaskRows } from './read-tasks.ts';

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
  const tasks = await readTaskRows(ledger, tenant, [...held.keys(), ...waiting]);
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

/** Where a task that waits stands in a lane that it shares. */
export interface SharedPlace {
  name: string;
  /** How many of it run at once. */
  limit: number;
  /** Whether it has to wait for this lane: it stands in its line, or there is no place for it. */
  isClosed: boolean;
  /** Whether it stands in the line of this lane: in no other one, then. */
  isInLine: boolean;
  /** The task before it: in the line, else among the holders, else the one that the lane is kept for; null for none. */
  before: string | null;
  /** How many wait before it or hold the lane. */
  ahead: number;
  /** The tasks that hold the lane. */
  holders: string[];
  /** The task for which a place is kept, because others passed it for long; null for none. */
  keptFor: string | null;
}

type PlaceReply = [name: string, limit: number, place: number, previous: string, keptFor: string, holders: string[]];

/** The places of a task that waits in the lanes that it shares, that of the line in which it stands first. See `shared-gates.lua`. */
export async function readSharedPlaces(
  ledger: Ledger,
  { body: { tenant, id }, state }: { body: Pick<TaskBody, 'id' | 'tenant'>; state: Pick<TaskState, 'sharedLanes'> },
): Promise<SharedPlace[]> {
  if (state.sharedLanes === undefined) return [];
  const { states, live, bodies } = ledger.keys.tenant(tenant);
  const found = await runInContext(ledger, { script: 'read-places', tenant, keys: [states, live, bodies], args: [id] });
  const size = 6;
  const places = Array.from({ length: found.length / size }, (_, at) => placeOf(found.slice(at * size, (at + 1) * size) as PlaceReply, id));
  return places.toSorted((one, other) => Number(other.isInLine) - Number(one.isInLine));
}

function placeOf([name, limit, place, previous, keeper, all]: PlaceReply, id: string): SharedPlace {
  const holders = all.filter((each) => each !== id);
  const isInLine = place >= 0;
  const isFull = holders.length >= limit;
  const keptFor = keeper !== '' && holders.length + 1 >= limit ? keeper : null;
  const inFront = isFull ? holders : keptFor === null ? [] : [keptFor];
  return {
    name,
    limit,
    isInLine,
    holders,
    keptFor,
    isClosed: isInLine || inFront.length > 0,
    before: previous || (inFront[0] ?? null),
    ahead: Math.max(0, place) + inFront.length,
  };
}
