import type { AttemptEnd } from '../ledger/index.ts';
import type { TaskState } from '../tasks/index.ts';
import type { Execution } from './execution.ts';

/** Whether the attempt before was turned back, and this one may be too: one line of log is enough for all of them. */
export function mayTurnBack({ turnedBack }: TaskState): boolean {
  return turnedBack !== undefined;
}

/** The end of an attempt, which was turned back only when it gave and used nothing. The start of any other is in the log by then. */
export function withoutTurnBack(end: AttemptEnd, execution: Execution): AttemptEnd {
  const isTurnedBack = end.kind === 'interrupted' && end.turnedBack !== undefined && !end.usage && execution.output.text === '';
  if (!isTurnedBack && mayTurnBack(execution.state)) logStart(execution, execution.state);
  if (isTurnedBack || end.kind !== 'interrupted') return end;
  const { turnedBack: _turnedBack, ...rest } = end;
  return rest;
}

/** Logs the start of an attempt. `state`: as it began. */
export function logStart({ log }: Pick<Execution, 'log'>, state: TaskState): void {
  log.info({ event: 'task.started', queuedMs: state.createdAt ? (state.startedAt ?? 0) - state.createdAt : 0 }, 'started');
}
