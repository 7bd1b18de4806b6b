/** Milliseconds with their fractions, by the clock that all processes of a machine share and nobody sets. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
