import { RUNAWAY_BUDGET } from '../config/index.ts';
import { HeldFailure, TaskFailure } from '../errors/index.ts';
import { systemClock } from '../time/index.ts';
import { dollars, holdOf } from './budget.ts';
import type { ExceededBudget } from './spend.ts';

const WINDOWS = { hour: 'this hour', day: 'today', month: 'this month', total: 'in all' } as const;

/** What ends an attempt that a budget refuses: held where it pauses, else failed for good. What cannot be downgraded is denied. */
export function budgetFailure(refused: ExceededBudget): TaskFailure {
  const { budget, usedMicroUsd, reservedMicroUsd, lineMicroUsd, until, atHard } = refused;
  const details = {
    budget: budget.id,
    usedMicroUsd,
    reservedMicroUsd,
    lineMicroUsd,
    until: until === null ? null : new Date(until).toISOString(),
  };
  if (budget.id === RUNAWAY_BUDGET && atHard === 'deny') return new TaskFailure('RUNAWAY', describeRunaway(refused), { details });
  const message = describeExceeded(refused);
  if (atHard !== 'pause') return new TaskFailure('BUDGET_EXCEEDED', message, { details });
  const wait = until === null ? {} : { retryAfterMs: Math.max(1, until - systemClock.now()) };
  return new HeldFailure('BUDGET_EXCEEDED', message, { details, hold: { gate: 'budget', what: holdOf(refused) }, ...wait });
}

function describeRunaway({ counted, usedMicroUsd, lineMicroUsd }: ExceededBudget): string {
  return `Runaway: task ${counted} and what it led to cost ${dollars(usedMicroUsd)}, and may cost ${dollars(lineMicroUsd)}`;
}

type Exceeded = Pick<ExceededBudget, 'budget' | 'usedMicroUsd' | 'reservedMicroUsd' | 'lineMicroUsd'>;

/** Which budget, and how much of it is used, for people. */
export function describeExceeded({ budget, usedMicroUsd, reservedMicroUsd, lineMicroUsd }: Exceeded): string {
  const others = reservedMicroUsd > 0 ? ` and ${dollars(reservedMicroUsd)} reserved by calls that go on` : '';
  return `Budget "${budget.id}" has ${dollars(usedMicroUsd)} spent ${WINDOWS[budget.per]}${others}, of ${dollars(lineMicroUsd)}`;
}
