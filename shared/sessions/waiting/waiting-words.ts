/** How a reason for waiting names tasks and times. */
export interface WaitingWords {
  /** The task in front. */
  task(id: string): string;
  /** Until when it waits, ms since the epoch; begins with a space. */
  until(at: number): string;
}

/** For those who look tasks up. */
export const EXACT_WORDS: WaitingWords = { task: (id) => `task ${id}`, until: (at) => ` until ${new Date(at).toISOString()}` };

/** For the people of a chat, who see neither ids nor clocks of other zones. */
export function plainWords(now: number): WaitingWords {
  return { task: () => 'the one before', until: (at) => ` for another ${spanText(at - now)}` };
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** About how long, in one unit: `40 s`, `2 min`, `3 h`. */
export function spanText(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1000, 's'];
  return `${Math.max(1, Math.round(ms / size))} ${name}`;
}
