import { pairs } from '../redis/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { readTasks } from './read-tasks.ts';

export interface Lane {
  /** Who holds a place, first come first. */
  held: { task: Task; since: number }[];
  /** Who waits, next one first; at most as many as asked for. */
  waiting: Task[];
  waitingTotal: number;
}

/** A holder that ends between reading its name and its state is looked for anew, so often. */
const TRIES = 3;

/** Who holds a lane and who waits for it. A task that moves meanwhile is in one of the two; one that ended is in none. */
export async function readLane(ledger: Ledger, tenant: string, lane: string, most: number): Promise<Lane> {
  for (let tries = 1; ; tries += 1) {
    const found = await readLaneOnce(ledger, tenant, lane, most);
    const held = found.held.filter(({ task }) => task.state.completedAt === undefined);
    if (held.length === found.held.length || tries === TRIES) return { ...found, held };
  }
}

async function readLaneOnce(ledger: Ledger, tenant: string, lane: string, most: number): Promise<Lane> {
  const { waiting, held, waitingTotal } = await readLaneIds(ledger, tenant, lane, most);
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

/** The same by ids alone. */
export async function readLaneIds(ledger: Ledger, tenant: string, lane: string, most: number): Promise<LaneIds> {
  const keys = ledger.keys.tenant(tenant);
  // Those who wait first: who is let in between the two is then among both, and never among none.
  const [waiting, total, held] = await Promise.all([
    ledger.redis.zrange(keys.laneWait(lane), '0', String(most - 1)),
    ledger.redis.zcard(keys.laneWait(lane)),
    ledger.redis.zrange(keys.laneHeld(lane), '0', '-1', 'WITHSCORES'),
  ]);
  const holders = new Map(pairs(held).map(([id, since]) => [id, Number(since)]));
  return { held: holders, waiting: waiting.filter((id) => !holders.has(id)), waitingTotal: total };
}
