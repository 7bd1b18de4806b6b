/** Prints a figure that a scenario measured: for people, because a loaded machine must not fail a run. */
export function reportFigure(what: string, figure: string): void {
  process.stdout.write(`measured: ${what}: ${figure}\n`);
}

/** Median and largest of durations in ms, in words. */
export function spread(durationsMs: readonly number[]): string {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  return `median ${inSeconds(sorted[Math.floor(sorted.length / 2)])}, max ${inSeconds(sorted.at(-1))} of ${sorted.length}`;
}

function inSeconds(ms: number | undefined): string {
  return `${((ms ?? 0) / 1000).toFixed(1)} s`;
}
