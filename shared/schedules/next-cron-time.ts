import { offsetSpanAt, type OffsetSpan } from './offset-span.ts';
import type { WallTimes } from './wall-times.ts';

/** No zone moves its clocks by more. */
const LARGEST_CHANGE_MS = 26 * 3_600_000;

/**
 * The first instant after `after`, and not after `until`, at which the wall times of a cron expression come up in a zone.
 *
 * - Hours of the day (`0 9 * * *`, `30 1-3 * * *`): a wall time that the clocks skip is as much later as they skipped (02:30 at
 *   03:30); one that they show twice is the first. Two that fall together are one.
 * - All hours (`0 * * * *`, a step of 30 minutes): each instant at which the wall shows such a time, so that no half hour that
 *   passes goes without, and none that did not pass has one.
 */
export function nextCronTime(walls: WallTimes, tz: string, after: number, until: number): number | undefined {
  let from = after;
  for (;;) {
    const span = offsetSpanAt(tz, Math.max(from + 1, after));
    const wall = walls.after(startIn(span, walls.isEveryHour, from));
    const found = earliest(wall === undefined ? undefined : wall - span.offsetMs, skippedIn(span, walls, from));
    if (found !== undefined && found < span.end) return found <= until ? found : undefined;
    if (wall === undefined || span.end > until) return undefined;
    // Nothing comes up before `wall`, wherever the clocks stand by then, unless they show again what they had shown.
    from = walls.isEveryHour ? span.end - 1 : Math.max(span.end - 1, wall - span.offsetMs - LARGEST_CHANGE_MS);
  }
}

/** The wall time after which to look in this span. After clocks went back, what they had shown before is over. */
function startIn(span: OffsetSpan, isEveryHour: boolean, from: number): number {
  const wall = from + span.offsetMs;
  return isEveryHour || span.start === -Infinity ? wall : Math.max(wall, span.start + span.offsetBeforeMs - 1);
}

/** The first instant after `from` for a wall time that the clocks skipped at the start of this span. */
function skippedIn(span: OffsetSpan, walls: WallTimes, from: number): number | undefined {
  const skippedMs = span.offsetMs - span.offsetBeforeMs;
  if (walls.isEveryHour || skippedMs <= 0 || from >= span.start + skippedMs) return undefined;
  const wall = walls.after(Math.max(from, span.start - 1) + span.offsetBeforeMs);
  return wall !== undefined && wall < span.start + span.offsetMs ? wall - span.offsetBeforeMs : undefined;
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
