/** How many times longer than usual is unusual. */
const UNUSUAL = 2;
const MIN_UNUSUAL_MS = 10_000;

/** Whether a task that has run for so long takes much longer than its agent usually does. */
export function isUnusual(ms: number, usualMs: number | null | undefined): usualMs is number {
  return typeof usualMs === 'number' && ms > Math.max(usualMs * UNUSUAL, MIN_UNUSUAL_MS);
}
