import type { TenantLimits, TenantLimitsPatch } from '../config/index.ts';

const UNLIMITED: TenantLimits = {
  storedBytes: null,
  maxTimeoutMs: null,
  running: null,
  waiting: null,
  runningByClass: {},
  runningLow: null,
  rates: {},
};

/** Limits with a change of some of them; null has none so far. */
export function patchLimits(limits: TenantLimits | null, { runningByClass, rates, ...figures }: TenantLimitsPatch): TenantLimits {
  const before = limits ?? UNLIMITED;
  const named = Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined));
  return {
    ...before,
    ...named,
    runningByClass: merged(before.runningByClass, runningByClass),
    rates: merged(before.rates, rates),
  };
}

function merged<Figure>(
  before: Record<string, Figure | undefined>,
  change: Record<string, Figure | null | undefined> = {},
): Record<string, Figure> {
  const all = Object.entries({ ...before, ...change });
  return Object.fromEntries(all.flatMap(([name, figure]) => (figure === null || figure === undefined ? [] : [[name, figure]])));
}
