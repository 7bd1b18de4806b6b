const UNITS: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A duration in its largest unit: `450 ms`, `12 s`, `3 min`. */
export function durationText(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit ? `${Math.floor(ms / unit[1])} ${unit[0]}` : `${Math.max(0, Math.round(ms))} ms`;
}
