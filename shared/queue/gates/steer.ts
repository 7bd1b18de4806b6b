import { closedGate, type GateReport } from '../why/wait-reason.ts';
import type { LaneKind } from './gate-kinds.ts';

const MINUTE_MS = 60_000;

/** The gate of messages that were offered to the task that runs in their lane. `lane.ts` finds it. */
export const STEER: LaneKind = {
  gate: 'steer',
  sort: 'lane',
  waits: 'for the running task of its session to take it in',
  limit: 'none while that task runs',
  order: 'arrival',
  opens: 'that task, which takes it in or ends',
  helps: 'The running task has yet to take it in. Stop that task to start this one.',
  longMs: 10 * MINUTE_MS,
  // Nobody knows when a message is taken in.
  foreseen: 'never',
};

export function steerGate(target: string, since: number): GateReport {
  const detail = `offered to task ${target}, not taken yet`;
  return closedGate('steer', { detail, helps: STEER.helps, since, taskId: target, facts: { holder: target } });
}
