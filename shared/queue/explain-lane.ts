import { type Ledger, readSharedPlaces, type SharedPlace } from '../ledger/index.ts';
import { waitingSince, type Waiting, type WaitReason, type WaitingTask } from './wait-reason.ts';

/**
 * Whom a task waits for in each of its lanes: the running task that it was offered to, the one before it in the line, or who holds the
 * lane. The line goes by arrival; those with a number of their platform share out their places by number. See `line_up` in lanes.lua.
 */
export async function explainLane(ledger: Ledger, task: WaitingTask): Promise<Waiting> {
  const [own, shared] = await Promise.all([explainOwnLane(ledger, task), readSharedPlaces(ledger, task)]);
  const full = shared.filter(({ isFull, before }) => isFull || before !== null);
  const since = waitingSince(task.state);
  const reasons = [...own.reasons, ...full.map((place) => ({ ...behind(place.before, place.name, place.ahead), since, until: null }))];
  if (reasons.length > 0) return { reasons, ahead: Math.max(own.ahead, ...full.map(({ ahead }: SharedPlace) => ahead)) };
  return { reasons: [{ gate: 'lane', detail: 'next in all of its lanes', since, until: null, taskId: null }], ahead: 0 };
}

/** No reason when it holds its own lane, or has none. */
async function explainOwnLane({ redis, keys }: Ledger, { body, state }: WaitingTask): Promise<Waiting> {
  const { lane, steer } = state;
  if (lane === undefined) return { reasons: [], ahead: 0 };
  const tenant = keys.tenant(body.tenant);
  const since = waitingSince(state);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  if (held.includes(body.id)) return { reasons: [], ahead: 0 };
  // When the one it was offered to has left the lane, it waits like any other.
  if (steer !== undefined && held.includes(steer)) {
    return { reasons: [{ gate: 'steer', detail: `offered to task ${steer}, not taken yet`, since, until: null, taskId: steer }], ahead: 1 };
  }
  const place = rank ?? 0;
  const before = place > 0 ? (await redis.zrange(tenant.laneWait(lane), String(place - 1), String(place - 1)))[0] : held[0];
  const reason = { ...behind(before ?? null, lane, place + held.length), since, until: null };
  return { reasons: [reason], ahead: place + held.length };
}

function behind(before: string | null, lane: string, ahead: number): Pick<WaitReason, 'gate' | 'detail' | 'taskId'> {
  const detail = before === null ? `next in ${nameOf(lane)}` : `behind task ${before} in ${nameOf(lane)}, ${ahead} before it`;
  return { gate: 'lane', detail, taskId: before };
}

function nameOf(lane: string): string {
  const [, kind, name] = /^(session|task):(.*)$/s.exec(lane) ?? [];
  if (kind === 'session') return `session "${name}"`;
  return kind === 'task' ? `the lane of task ${name}` : `lane "${lane}"`;
}
