import { type Ledger, readSharedPlaces, type SharedPlace } from '../../ledger/index.ts';
import { closedGate, type GateReport, openGate, waitingSince, type WaitingTask } from '../why/wait-reason.ts';
import type { LaneKind, LinePlace } from './gate-kinds.ts';
import { steerGate } from './steer.ts';

const MINUTE_MS = 60_000;

/** The gate of lanes: that of a task's session, and those that it shares. */
export const LANE: LaneKind = {
  gate: 'lane',
  sort: 'lane',
  waits: 'behind another task of its session or of a shared lane',
  limit: "one at a time, or the lane's `limit`",
  order: 'a session: arrival; a shared lane: critical, then age',
  opens: 'the end of a task in it',
  helps: 'It starts when the task before it has ended. Cancel that task, or use another session.',
  // Tasks of one session wait for each other by choice.
  longMs: 10 * MINUTE_MS,
  place: placeInLanes,
};

/** The same for lanes of several sessions. */
export const LANE_HELPS = {
  agent:
    "It starts when enough of the agent's tasks have ended. An administrator can raise the agent's `maxRunning`, or the tenant's `runningByAgent`.",
  shared: 'It starts when the tasks before it in the lane have ended. An operator can raise the `limit` of the lane.',
} as const;

/**
 * The task that a task waits for in each of its lanes that is closed for it: the running one that it was offered to, the one before it in line, or
 * the holder of the lane. The lane in whose line it stands comes first. The line of a session is ordered by arrival, and tasks with a number of
 * their platform by that number. See lane-line.lua.
 */
async function placeInLanes(ledger: Ledger, task: WaitingTask): Promise<LinePlace> {
  const { gate } = task.state;
  if (gate !== 'lane' && gate !== 'steer' && gate !== 'cap') return openLanes(task);
  const [own, shared] = await Promise.all([explainOwnLane(ledger, task), readSharedPlaces(ledger, task)]);
  const since = waitingSince(task.state);
  const closed = shared.filter(({ isClosed }) => isClosed);
  const gates = [...own.gates, ...closed.map((place) => gateInLine(place, since, place.holders[0] ?? null))];
  if (own.gates.length > 0) return { ...NO_WAIT, ...own, gates, ahead: maxAhead(own, ...closed), limit: task.state.laneLimit ?? 1 };
  if (gate === 'lane' && task.state.preempts !== undefined) return promisedIn(shared, task.state.preempts, since);
  if (gates.length > 0) return { ...NO_WAIT, ...placeInShared(closed), gates, ahead: maxAhead(...closed) };
  return gate === 'cap' ? openLanes(task) : { ...NO_WAIT, gates: [nextInLanes(since)] };
}

function openLanes({ state }: WaitingTask): LinePlace {
  return { ...NO_WAIT, gates: [openGate('lane', openDetail(state))] };
}

function maxAhead(...places: readonly { ahead: number }[]): number {
  return Math.max(...places.map(({ ahead }) => ahead));
}

function nextInLanes(since: number): GateReport {
  return closedGate('lane', { detail: 'next in all of its lanes', helps: LANE.helps, since });
}

const NO_WAIT = { ahead: 0, holders: [], limit: 1, classes: [] };

function placeInShared([first]: readonly SharedPlace[]): Pick<LinePlace, 'holders' | 'limit'> {
  return { holders: first?.holders ?? [], limit: Math.max(1, first?.limit ?? 1) };
}

function promisedIn(shared: readonly SharedPlace[], taskId: string, since: number): LinePlace {
  const gate = closedGate('lane', { detail: `gets the place of task ${taskId}, which stops`, helps: LANE.helps, since, taskId });
  return { ...NO_WAIT, ...placeInShared(shared), gates: [gate] };
}

function openDetail({ lane, granted }: WaitingTask['state']): string {
  if (lane === undefined) return 'it needs no lane of its own';
  return granted ? `it has its place in ${nameOf(lane)}` : `it joins ${nameOf(lane)} then, or is in it`;
}

type OwnPlace = Pick<LinePlace, 'gates' | 'ahead' | 'holders'>;

const NO_PLACE: OwnPlace = { gates: [], ahead: 0, holders: [] };

/** No gate when it holds its own lane, or has none. */
async function explainOwnLane({ redis, keys }: Ledger, { body, state }: WaitingTask): Promise<OwnPlace> {
  const { lane, steer, gate } = state;
  if (lane === undefined || gate === 'cap') return NO_PLACE;
  const tenant = keys.tenant(body.tenant);
  const since = waitingSince(state);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  if (held.includes(body.id)) return NO_PLACE;
  const holder = held[0] ?? null;
  // When its target has left the lane, it waits like any other task.
  if (steer !== undefined && held.includes(steer)) return { gates: [steerGate(steer, since)], ahead: 1, holders: held };
  const place = rank ?? 0;
  const before = place > 0 ? (await redis.zrange(tenant.laneWait(lane), String(place - 1), String(place - 1)))[0] : held[0];
  const ahead = place + held.length;
  return { gates: [gateInLine({ before: before ?? null, name: lane, ahead }, since, holder)], ahead, holders: held };
}

function gateInLine(
  { before, name, ahead, keptFor = null }: Pick<SharedPlace, 'before' | 'name' | 'ahead'> & Partial<Pick<SharedPlace, 'keptFor'>>,
  since: number,
  holder: string | null,
): GateReport {
  const detail = lineDetail(before, nameOf(name), { ahead, keptFor });
  const facts = { lane: nameOf(name), place: ahead + 1, ...(holder === null ? {} : { holder }) };
  return closedGate('lane', { detail, helps: helpsIn(name), since, taskId: before, facts });
}

function lineDetail(before: string | null, lane: string, { ahead, keptFor }: Pick<SharedPlace, 'ahead' | 'keptFor'>): string {
  if (before === null) return `next in ${lane}`;
  if (before === keptFor) return `${lane} is kept for task ${keptFor}, which others passed for long`;
  return `behind task ${before} in ${lane}, ${ahead} before it`;
}

/** Another session helps only in the lane of one. */
function helpsIn(lane: string): string {
  if (lane.startsWith('agent:')) return LANE_HELPS.agent;
  return /^(?:session|task):/.test(lane) ? LANE.helps : LANE_HELPS.shared;
}

function nameOf(lane: string): string {
  const [, kind, name] = /^(session|task|agent):(.*)$/s.exec(lane) ?? [];
  if (kind === 'session') return `session "${name}"`;
  if (kind === 'agent') return `the tasks of agent "${name}"`;
  return kind === 'task' ? `the lane of task ${name}` : `lane "${lane}"`;
}
