const UNITS: readonly [ms: number, name: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
];

/** A duration in its largest whole unit: `3m`, `2d`. Below a second, and for a clock that is behind: `0s`. */
export function shortAge(ms: number): string {
  for (const [size, name] of UNITS) if (ms >= size) return `${Math.floor(ms / size)}${name}`;
  return '0s';
}

/** A duration for a sentence: `340 ms`, `1.2 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
