import type { LimitsPreview } from './preview-limits.ts';

const DAY_MS = 86_400_000;
const UNITS = [
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', DAY_MS],
] as const;

/** What a preview says, as a sentence. */
export function describePreview({
  tasks,
  wouldHaveWaited,
  wouldHaveBeenRefused,
  longestMs,
}: Omit<LimitsPreview, 'byLimit' | 'since'>): string {
  if (tasks === 0) return 'No task ran in the last day.';
  const waited = wouldHaveWaited === 0 ? 'none' : grouped(wouldHaveWaited);
  const longest = wouldHaveWaited === 0 ? '' : `, the longest ${shortDuration(longestMs)}`;
  const refused = wouldHaveBeenRefused === 0 ? 'none' : grouped(wouldHaveBeenRefused);
  return `With these limits, ${waited} of the last day's ${grouped(tasks)} tasks would have waited${longest}, and ${refused} would have been refused.`;
}

function grouped(count: number): string {
  return count.toLocaleString('en');
}

/** Two digits are enough to compare. */
function shortDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const [unit, size] = UNITS.findLast(([, each]) => ms >= each) ?? (['s', 1000] as const);
  const count = ms / size;
  return `${count < 10 ? Number(count.toFixed(1)) : Math.round(count)} ${unit}`;
}
