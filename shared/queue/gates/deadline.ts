import type { GateKind } from '../../ledger/index.ts';
import { timeText } from '../../time/index.ts';
import { closedGate, type GateReport, openGate, type WaitingTask } from '../why/wait-reason.ts';
import { redisTime } from './clock.ts';

/** The gate of the deadline before which a task has to start. */
export const DEADLINE: GateKind = {
  gate: 'deadline',
  sort: 'deadline',
  waits: 'until it ends as stale: its deadline has passed',
  limit: 'before its `deadline`',
  order: null,
  opens: 'nothing',
  helps: 'It ends as stale. Send it again with a later deadline.',
};

export function explainDeadline({ state }: WaitingTask, skewMs: number, startMs: number | null): GateReport {
  const { deadline } = state;
  if (deadline === undefined) return openGate('deadline', 'it has no deadline');
  const leftMs = deadline - redisTime(skewMs);
  const at = timeText(deadline);
  const facts = { deadline: new Date(deadline).toISOString(), leftMs: Math.max(0, leftMs) };
  if (leftMs <= 0)
    return closedGate('deadline', { detail: `its deadline ${at} has passed`, helps: DEADLINE.helps, facts, since: deadline });
  const isLate = startMs !== null && startMs > leftMs;
  return openGate('deadline', isLate ? `it will probably not start before its deadline ${at}` : `it has to start before ${at}`, facts);
}
