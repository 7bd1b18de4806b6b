import { RUNAWAY_BUDGET } from '../config/index.ts';
import { HeldFailure, TaskFailure } from '../errors/index.ts';
import { systemClock } from '../time/index.ts';
import { dollars, holdOf } from './budget.ts';
import type { ExceededBudget } from './spend.ts';

const WINDOWS = { hour: 'this hour', day: 'today', month: 'this month', total: 'in all' } as const;

/** What ends an attempt that a budget refuses: held where it pauses, else failed for good. What cannot be downgraded is denied. */
export function budgetFailure(refused: ExceededBudget): TaskFailure {
  const { budget, usedMicroUsd, reservedMicroUsd, lineMicroUsd, requestedMicroUsd, neededMicroUsd, until, atHard } = refused;
  const details = {
    budget: budget.id,
    usedMicroUsd,
    reservedMicroUsd,
    lineMicroUsd,
    leftMicroUsd: leftOf(refused),
    requestedMicroUsd,
    neededMicroUsd,
    until: until === null ? null : new Date(until).toISOString(),
  };
  if (budget.id === RUNAWAY_BUDGET && atHard === 'deny') return new TaskFailure('RUNAWAY', describeRunaway(refused), { details });
  const message = describeExceeded(refused);
  if (atHard !== 'pause') return new TaskFailure('BUDGET_EXCEEDED', message, { details });
  const wait = until === null ? {} : { retryAfterMs: Math.max(1, until - systemClock.now()) };
  const rule = refused.isForCalls ? 'calls' : budget.atHard;
  return new HeldFailure('BUDGET_EXCEEDED', message, { details, hold: { gate: 'budget', what: holdOf(refused), rule }, ...wait });
}

function describeRunaway({ counted, usedMicroUsd, lineMicroUsd }: ExceededBudget): string {
  return `Runaway: task ${counted} and what it led to cost ${dollars(usedMicroUsd)}, and may cost ${dollars(lineMicroUsd)}`;
}

type Exceeded = Pick<ExceededBudget, 'budget' | 'usedMicroUsd' | 'reservedMicroUsd' | 'lineMicroUsd'> &
  Partial<Pick<ExceededBudget, 'requestedMicroUsd' | 'neededMicroUsd'>>;

/** What is neither spent nor reserved. */
export function leftOf({ usedMicroUsd, reservedMicroUsd, lineMicroUsd }: Omit<Exceeded, 'budget'>): number {
  return Math.max(0, lineMicroUsd - usedMicroUsd - reservedMicroUsd);
}

/** Which budget, how much of it is used and left, and what a call needs, for people. */
export function describeExceeded(refused: Exceeded): string {
  const { budget, usedMicroUsd, reservedMicroUsd, lineMicroUsd, neededMicroUsd = 0, requestedMicroUsd = 0 } = refused;
  const others = reservedMicroUsd > 0 ? ` and ${dollars(reservedMicroUsd)} reserved by calls that go on` : '';
  const used = `Budget "${budget.id}" has ${dollars(usedMicroUsd)} spent ${WINDOWS[budget.per]}${others}, of ${dollars(lineMicroUsd)}`;
  if (neededMicroUsd <= 0) return used;
  const upTo = requestedMicroUsd > neededMicroUsd ? `, and up to ${dollars(requestedMicroUsd)}` : '';
  return `${used}; ${dollars(leftOf(refused))} is left, and a call needs ${dollars(neededMicroUsd)}${upTo}`;
}
