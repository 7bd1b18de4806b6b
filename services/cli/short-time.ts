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

/** A duration for a sentence, in its two largest units: `340 ms`, `1.2 s`, `3 min 20 s`, `23 h 42 min`, `2 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The time of day by the clock of this machine, with its zone: `14:03:22 CEST`. */
export function localTime(at: Date): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'long' }).format(at);
}
