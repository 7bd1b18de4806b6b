import type { SharedLane, TaskBody, TaskState } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';

/** Where a task stands in a lane that it shares. */
export interface SharedPlace {
  name: string;
  /** Whether as many of the lane run as may. */
  isFull: boolean;
  /** The one before it: in the line, else among those that hold the lane; null for none. */
  before: string | null;
  /** How many wait before it or hold the lane. */
  ahead: number;
}

const TIME_DIGITS = 15;
/** Behind every member of a lane. */
const NO_END = '\u00ff';

/** The places of a task that does not run in the lanes that it shares. See `shared-lanes.lua` for how they are kept. */
export async function readSharedPlaces(
  ledger: Ledger,
  { body, state }: { body: Pick<TaskBody, 'id' | 'tenant'>; state: TaskState },
): Promise<SharedPlace[]> {
  const member = `${String(state.createdAt).padStart(TIME_DIGITS, '0')}/${body.id}`;
  const key = ledger.keys.tenant(body.tenant).live;
  return await Promise.all((state.sharedLanes ?? []).map((lane) => readPlace(ledger, { key, lane, member, id: body.id })));
}

interface Standing {
  key: string;
  lane: SharedLane;
  /** Behind the lane's name in its line. */
  member: string;
  id: string;
}

async function readPlace({ redis }: Ledger, { key, lane, member, id }: Standing): Promise<SharedPlace> {
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
  return { name: lane.name, isFull, before: before ?? null, ahead: line + (isFull ? holders.length : 0) };
}
