import { releaseIfFitting, type SpendPorts } from '../budgets/index.ts';
import type { AgentLog } from '../config/index.ts';
import type { TaskHold } from '../errors/index.ts';
import {
  type AttemptEnd,
  type AttemptRef,
  errorOf,
  type Ledger,
  releaseIfResumed,
  settleAttempt,
  turnedBackBy,
  type Transition,
} from '../ledger/index.ts';
import type { TicketResult } from '../queue/index.ts';
import { isRedisUnavailable, retryWhileAway } from '../redis/index.ts';
import type { TaskStatus } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { resumeParentOf, seeToWait, type WaitHandlers } from '../waits/index.ts';
import { endAttemptSpan } from './attempt/attempt-span.ts';
import { countEnd } from './count-attempt.ts';
import type { Execution } from './execution.ts';
import type { LeaseKeeper } from './leases/lease-keeper.ts';
import type { RunningAttempt } from './attempt/running-attempt.ts';

export interface SettleParts {
  ledger: Ledger;
  keeper: LeaseKeeper;
  clock: Clock;
  spending: SpendPorts;
  /** What is done when a run begins to wait. */
  waits: WaitHandlers;
  /** Called when a task waits for a time, which may be near. */
  onWaiting: () => void;
  /** Called once it is known what the ledger did with the task of an attempt; `lost` for nothing. */
  onSettled?: (attempt: AttemptRef, settled: Transition | 'lost') => void;
}

/** An outage of Redis that ends so soon after the lease costs no attempt: meanwhile no other worker could reclaim the task. */
const AFTER_LEASE_MS = 300_000;

/** Settles an attempt, logs its end and releases its lease. Returns what its ticket becomes. */
export async function settleAndReport(parts: SettleParts, execution: Execution, end: AttemptEnd): Promise<TicketResult> {
  const { keeper, clock, onWaiting } = parts;
  const { state, attempt, log, span, claimedFrom } = execution;
  const settled = await settleWithRetry(parts, attempt, end);
  parts.onSettled?.(attempt.ref, settled);
  const ranMs = clock.monotonic() - claimedFrom;
  if (settled !== 'lost') countEnd(parts.ledger, attempt.ref.tenant, state, { end, transition: settled, ranMs });
  if (!isTurnedBackAgain(execution, end)) {
    report(log, end, settled, { tookMs: ranMs, attempt: state.attempt });
    if (span) endAttemptSpan(span, end, settled);
  }
  if (settled !== 'lost') await seeToRuns(parts, execution, settled).catch(ignoreUntilDue);
  if (end.kind === 'interrupted' && end.hold) await releaseIfOver(parts, attempt.ref.tenant, end.hold).catch(ignoreUntilDue);
  const result = ticketResult(end, settled);
  if (result.kind === 'done' && end.kind !== 'completed') onWaiting();
  keeper.release(attempt);
  return result;
}

/** Has others learn what a run waits for now, and a run go on that waited for this task. */
async function seeToRuns(parts: SettleParts, { attempt, body }: Execution, settled: Transition): Promise<void> {
  if (settled.isWatched && settled.entry !== undefined) await seeToWait(parts, { ...attempt.ref, entry: settled.entry });
  if (settled.ended) await resumeParentOf(parts.ledger, body, settled);
}

/** Whether an attempt was turned back by what had turned the one before back: its log says that already. */
function isTurnedBackAgain({ state }: Execution, end: AttemptEnd): boolean {
  return state.turnedBack !== undefined && state.turnedBack === turnedBackBy(end);
}

/** What holds a task may have ended before the ledger had the task among those that wait. */
async function releaseIfOver({ ledger, spending }: SettleParts, tenant: string, hold: TaskHold): Promise<void> {
  await releaseIfResumed(ledger, tenant, hold);
  if (hold.gate === 'budget') await releaseIfFitting(ledger, spending.budgets, { tenant, what: hold.what });
}

function ignoreUntilDue(): void {
  // The task is checked again when its hold is due, and by the chores.
}

/** The ledger decides by the token whether the attempt is still this worker's: `lost` when it is not, or when Redis stays away. */
async function settleWithRetry({ ledger, clock }: SettleParts, attempt: RunningAttempt, end: AttemptEnd): Promise<Transition | 'lost'> {
  // The same each time: by the resulting state the script recognizes a call whose answer was lost.
  const now = attempt.redisNow(clock.monotonic());
  try {
    return await retryWhileAway(() => settleAttempt(ledger, attempt.ref, end, { stored: attempt.stored, first: attempt.first, now }), {
      mayRetry: () => clock.monotonic() <= attempt.heldUntil + AFTER_LEASE_MS,
    });
  } catch (error) {
    if (isRedisUnavailable(error)) return 'lost';
    throw error;
  }
}

function report(
  log: AgentLog,
  end: AttemptEnd,
  settled: Transition | 'lost',
  { tookMs, attempt }: { tookMs: number; attempt: number },
): void {
  const error = errorOf(end);
  const failure = error ? { code: error.code, reason: error.message, details: error.details } : {};
  const fields = { durationMs: Math.round(tookMs), ...failure };
  if (settled === 'lost') {
    log.warn({ event: 'task.lost', ...fields }, 'the lease was lost; another attempt may have the task');
    return;
  }
  const event = `task.${end.kind}`;
  if (end.kind === 'failed' || end.kind === 'timeout') log.warn({ event, willRetry: settled.continuation !== 'end', ...fields }, end.kind);
  else log.info({ event, ...fields }, end.kind);
  if (settled.status === 'permanently_failed')
    log.error({ event: 'task.permanently_failed', totalAttempts: attempt, ...fields }, 'failed for good');
}

/** What the queue does with the ticket, by what the ledger did with its task. */
function ticketResult(end: AttemptEnd, settled: Transition | 'lost'): TicketResult {
  if (settled === 'lost') return { kind: 'done', note: 'the lease was lost' };
  const { status, continuation } = settled;
  if (status === 'permanently_failed') return { kind: 'failed', message: reasonOf(end, status) };
  if (continuation === 'end') return { kind: 'done', note: status };
  return { kind: 'done', note: `${reasonOf(end, status)}; gets another ticket ${nextTicket(settled)}` };
}

function nextTicket({ continuation, dueAt, endedAt }: Transition): string {
  if (continuation === 'backlog' || continuation === 'lanes') return 'when there is room';
  if (continuation === 'hold') return 'when it is held no more';
  return dueAt === undefined ? 'now' : `in ${dueAt - endedAt} ms`;
}

function reasonOf(end: AttemptEnd, status: TaskStatus): string {
  const error = errorOf(end);
  if (error) return `${error.code}: ${error.message}`;
  return end.kind === 'interrupted' ? end.reason : status;
}
