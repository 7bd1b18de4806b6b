const MICRO_PER_USD = 1_000_000;

/** Millionths of a dollar as dollars, in four digits after the point; null is an unknown cost. */
export function formatCost(microUsd: number | null): string {
  return microUsd === null ? 'unknown' : `$${(microUsd / MICRO_PER_USD).toFixed(4)}`;
}
