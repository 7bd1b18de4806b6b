const UNITS: readonly [ms: number, letter: string, word: string][] = [
  [86_400_000, 'd', 'day'],
  [3_600_000, 'h', 'hour'],
  [60_000, 'm', 'minute'],
  [1000, 's', 'second'],
];

/** A duration of whole seconds as `readDuration` reads it, in the largest unit that divides it: `5m`, `90m`, `36h`. */
export function formatDuration(ms: number): string {
  const [size, letter] = UNITS.find(([unit]) => ms % unit === 0) ?? [1000, 's'];
  return `${ms / size}${letter}`;
}

/** A duration of whole seconds in words: `5 minutes`, `1 hour 30 minutes`. */
export function spellDuration(ms: number): string {
  const words: string[] = [];
  let left = ms;
  for (const [size, , word] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count} ${word}${count === 1 ? '' : 's'}`);
  }
  return words.join(' ');
}
