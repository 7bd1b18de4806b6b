import { rateWindows, type TenantLimits } from '../../config/index.ts';
import type { PastTask } from './past-task.ts';

/** Why a rate would have refused a task, and for how long. */
export interface RateRefusal {
  /** `rates.` and the class whose rate was used up, or `rates.all`. */
  limit: string;
  retryAfterMs: number;
}

/** Which tasks the rates would have refused, in the order of the tasks; null for those they admit. Pure; see `check_rates` in Lua. */
export function simulateRates(tasks: readonly PastTask[], rates: TenantLimits['rates']): (RateRefusal | null)[] {
  const windows = Object.entries(rates).flatMap(([scope, rate]) =>
    Object.values(rateWindows(rate)).map(({ everyMs, burst }) => ({ everyMs, burst, scope, emptyAt: 0 })),
  );
  const refusals = new Map<PastTask, RateRefusal>();
  for (const task of tasks.toSorted((a, b) => a.acceptedAt - b.acceptedAt || (a.id < b.id ? -1 : 1))) {
    const own = windows.filter(({ scope }) => scope === task.source || scope === 'all');
    const after = own.map(({ scope, everyMs, burst, emptyAt }) => ({
      limit: `rates.${scope}`,
      retryAfterMs: Math.max(emptyAt, task.acceptedAt) + everyMs - task.acceptedAt - burst * everyMs,
    }));
    const longest = after.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
    if (longest && longest.retryAfterMs > 0) refusals.set(task, { ...longest, retryAfterMs: Math.ceil(longest.retryAfterMs) });
    else for (const window of own) window.emptyAt = Math.max(window.emptyAt, task.acceptedAt) + window.everyMs;
  }
  return tasks.map((task) => refusals.get(task) ?? null);
}
