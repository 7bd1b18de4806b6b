/** The time zone of this browser. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const ZONE_FIELDS = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** An ISO time in a zone: `Mon, 23 Nov 2026, 09:00`, with seconds unless they are zero. */
export function zoneTime(at: string, tz: string): string {
  const time = new Date(at);
  const seconds = time.getUTCSeconds() === 0 ? {} : { second: '2-digit' as const };
  return new Intl.DateTimeFormat('en-GB', { ...ZONE_FIELDS, ...seconds, timeZone: tz }).format(time);
}

const DAY_MS = 86_400_000;
const MINUTE_CHARACTERS = 'yyyy-mm-ddThh:mm'.length;

/** An instant as a field for dates and times has it, by the clock of a zone: `2026-11-23T09:00`. */
export function zoneField(at: number, tz: string): string {
  return wallText(at, tz).slice(0, MINUTE_CHARACTERS);
}

/**
 * The instant of such a field, in ms since the epoch. Of a time that the clock shows twice it is the first, and one that the clock leaves
 * out is as long after the gap as it is after the gap's beginning.
 */
export function fieldInstant(field: string, tz: string): number {
  const wall = Date.parse(`${field}Z`);
  const former = offsetMs(wall - DAY_MS, tz);
  const later = offsetMs(wall + DAY_MS, tz);
  const isLater = offsetMs(wall - former, tz) !== former && offsetMs(wall - later, tz) === later;
  return wall - (isLater ? later : former);
}

/** How far the clock of a zone is ahead of UTC. */
function offsetMs(at: number, tz: string): number {
  return Date.parse(`${wallText(at, tz)}Z`) - Math.floor(at / 1000) * 1000;
}

/** `2026-11-23T09:00:00`. Swedish dates have the order of ISO 8601. */
function wallText(at: number, tz: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: tz }).format(at).replace(' ', 'T');
}
