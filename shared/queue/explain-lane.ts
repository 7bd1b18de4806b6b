import type { Ledger } from '../ledger/ledger.ts';
import type { Task } from '../tasks/task.ts';
import { waitingSince, type Waiting, type WaitReason } from './wait-reason.ts';

/**
 * Whom a task waits for in its lane: the running task that it was offered to, the one before it in the line, or who holds the lane.
 * The line goes by arrival; those with a number of their platform share out their places by number. See `line_up` in lanes.lua.
 */
export async function explainLane({ redis, keys }: Ledger, { body, state }: Task): Promise<Waiting> {
  const lane = state.lane ?? '';
  const tenant = keys.tenant(body.tenant);
  const since = waitingSince(state);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  const { steer } = state;
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
