import { type Ledger, readSharedPlaces, type SharedPlace } from '../../ledger/index.ts';
import { HELPS, LANE_HELPS } from './helps.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from './wait-reason.ts';

/** Where a task stands in its lanes. */
export interface LanePlace {
  /** One for each lane that it waits for; else an open one. */
  gates: GateReport[];
  /** How many are before it in the longest line, those that run included. */
  ahead: number;
  /** The tasks that hold its lane, and how many may. */
  holders: string[];
  limit: number;
}

/**
 * The task that a task waits for in each of its lanes: the running one that it was offered to, the one before it in line, or the holder
 * of the lane. The line is ordered by arrival, and tasks with a number of their platform by that number. See lanes.lua.
 */
export async function explainLanes(ledger: Ledger, task: WaitingTask): Promise<LanePlace> {
  const { gate, lane, granted } = task.state;
  if (gate !== 'lane' && gate !== 'steer') return { ...NO_WAIT, gates: [openGate('lane', openDetail(lane, granted))] };
  const [own, shared] = await Promise.all([explainOwnLane(ledger, task), readSharedPlaces(ledger, task)]);
  const { preempts } = task.state;
  if (preempts !== undefined && own.gates.length === 0)
    return { ...placeInShared(shared), gates: [promised(preempts, waitingSince(task.state))], ahead: 0 };
  const full = shared.filter(({ isFull, before }) => isFull || before !== null);
  const since = waitingSince(task.state);
  const gates = [...own.gates, ...full.map((place) => gateInLine(place, since, place.holders[0] ?? null))];
  if (gates.length === 0)
    return { ...NO_WAIT, gates: [closedGate('lane', { detail: 'next in all of its lanes', helps: HELPS.lane, since })] };
  const ahead = Math.max(own.ahead, ...full.map((place: SharedPlace) => place.ahead));
  return own.gates.length > 0 ? { ...own, gates, ahead, limit: task.state.laneLimit ?? 1 } : { ...placeInShared(full), gates, ahead };
}

const NO_WAIT = { ahead: 0, holders: [], limit: 1 };

function placeInShared([first]: readonly SharedPlace[]): Pick<LanePlace, 'holders' | 'limit'> {
  return { holders: first?.holders ?? [], limit: Math.max(1, first?.limit ?? 1) };
}

function promised(taskId: string, since: number): GateReport {
  return closedGate('lane', { detail: `gets the place of task ${taskId}, which stops`, helps: HELPS.lane, since, taskId });
}

function openDetail(lane: string | undefined, isGranted: boolean | undefined): string {
  if (lane === undefined) return 'it needs no lane of its own';
  return isGranted ? `it has its place in ${nameOf(lane)}` : `it joins ${nameOf(lane)} then, or is in it`;
}

interface OwnPlace extends Pick<LanePlace, 'gates' | 'ahead' | 'holders'> {}

const NO_PLACE: OwnPlace = { gates: [], ahead: 0, holders: [] };

/** No gate when it holds its own lane, or has none. */
async function explainOwnLane({ redis, keys }: Ledger, { body, state }: WaitingTask): Promise<OwnPlace> {
  const { lane, steer } = state;
  if (lane === undefined) return NO_PLACE;
  const tenant = keys.tenant(body.tenant);
  const since = waitingSince(state);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  if (held.includes(body.id)) return NO_PLACE;
  const holder = held[0] ?? null;
  // When its target has left the lane, it waits like any other task.
  if (steer !== undefined && held.includes(steer)) {
    const detail = `offered to task ${steer}, not taken yet`;
    return {
      gates: [closedGate('steer', { detail, helps: HELPS.steer, since, taskId: steer, facts: { holder: steer } })],
      ahead: 1,
      holders: held,
    };
  }
  const place = rank ?? 0;
  const before = place > 0 ? (await redis.zrange(tenant.laneWait(lane), String(place - 1), String(place - 1)))[0] : held[0];
  const ahead = place + held.length;
  return { gates: [gateInLine({ before: before ?? null, name: lane, ahead }, since, holder)], ahead, holders: held };
}

function gateInLine(
  { before, name, ahead }: Pick<SharedPlace, 'before' | 'name' | 'ahead'>,
  since: number,
  holder: string | null,
): GateReport {
  const detail = before === null ? `next in ${nameOf(name)}` : `behind task ${before} in ${nameOf(name)}, ${ahead} before it`;
  const facts = { lane: nameOf(name), place: ahead + 1, ...(holder === null ? {} : { holder }) };
  return closedGate('lane', { detail, helps: helpsIn(name), since, taskId: before, facts });
}

/** Another session helps only in the lane of one. */
function helpsIn(lane: string): string {
  if (lane.startsWith('agent:')) return LANE_HELPS.agent;
  return /^(?:session|task):/.test(lane) ? HELPS.lane : LANE_HELPS.shared;
}

function nameOf(lane: string): string {
  const [, kind, name] = /^(session|task|agent):(.*)$/s.exec(lane) ?? [];
  if (kind === 'session') return `session "${name}"`;
  if (kind === 'agent') return `the tasks of agent "${name}"`;
  return kind === 'task' ? `the lane of task ${name}` : `lane "${lane}"`;
}
