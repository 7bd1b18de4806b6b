import type { Ledger } from '../ledger/ledger.ts';
import type { Task } from '../tasks/task.ts';
import type { Waiting } from './wait-reason.ts';
import { parseTimeline } from '../tasks/parse-timeline.ts';

/** Whom a task waits for in its lane: the one before it in the line, or who holds the lane. */
export async function explainLane({ redis, keys }: Ledger, { body, state }: Task): Promise<Waiting> {
  const lane = state.lane ?? '';
  const tenant = keys.tenant(body.tenant);
  const [rank, held] = await Promise.all([redis.zrank(tenant.laneWait(lane), body.id), redis.zrange(tenant.laneHeld(lane), '0', '-1')]);
  const place = rank ?? 0;
  const [before = held[0] ?? null] = place > 0 ? await redis.zrange(tenant.laneWait(lane), String(place - 1), String(place - 1)) : [];
  const ahead = place + held.length;
  const name = lane.startsWith('session:') ? `session "${lane.slice('session:'.length)}"` : `lane "${lane}"`;
  const detail = before === null ? `next in ${name}` : `behind task ${before} in ${name}, ${ahead} before it`;
  return {
    reasons: [{ gate: 'lane', detail, since: parseTimeline(state.log).at(-1)?.at ?? state.createdAt, until: null, taskId: before }],
    ahead,
  };
}
