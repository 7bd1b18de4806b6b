import { Temporal } from 'temporal-polyfill';
import { MusterError } from '../../errors/index.ts';

/** A zone, and the instant that "today" refers to, in milliseconds since the epoch. */
export interface Moment {
  tz: string;
  now: number;
}

/** A time by the clock on the wall. */
export interface TimeOfDay {
  /** 0 to 23. */
  hour: number;
  minute: number;
}

/** The day in the zone, `days` later. The day exists in the calendar, even when the clocks skipped it. */
export function dayOn({ tz, now }: Moment, days = 0): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(tz).toPlainDate().add({ days });
}

/**
 * The instant of a wall time, in milliseconds since the epoch. A wall time that the clocks skip moves later by the skipped time; of a
 * wall time that comes twice it is the first.
 */
export function instantOn(day: Temporal.PlainDate, time: TimeOfDay, tz: string): number {
  return day.toZonedDateTime({ timeZone: tz, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds;
}

/** An instant by the zone's clock, as `2026-06-01 12:00`, with seconds where they are not zero. */
export function formatWallTime(at: number, tz: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(tz).toPlainDateTime();
  return wall.toString({ smallestUnit: wall.second === 0 ? 'minute' : 'second' }).replace('T', ' ');
}

const ISO = /^(\d{4}-\d\d-\d\d)[t ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)(z|[+-]\d\d:?\d\d)?$/i;

/**
 * Milliseconds since the epoch of an ISO 8601 time; undefined for anything else, and for a day that no calendar has. Without an
 * offset it is a wall time of the zone, see `instantOn`.
 */
export function readInstant(text: string, tz: string): number | undefined {
  const [, day, time, offset] = ISO.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  try {
    if (offset !== undefined) return Temporal.Instant.from(`${day}T${time}${offset.toUpperCase()}`).epochMilliseconds;
    return Temporal.PlainDateTime.from(`${day}T${time}`, { overflow: 'reject' }).toZonedDateTime(tz).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** A date as `2026-06-01`; undefined when the calendar does not have it, as 31 February. */
export function readDay(text: string): Temporal.PlainDate | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

const NAMED_TIMES: Readonly<Record<string, TimeOfDay>> = { noon: { hour: 12, minute: 0 }, midnight: { hour: 0, minute: 0 } };
const CLOCK = /^(\d{1,2})(?::([0-5]\d))? ?(am|pm)?$/;

/** `09:00`, `9`, `17`, `9am`, `5:30 pm`, `noon`, `midnight`, in lower case; undefined for anything else. Without am or pm the day has 24 hours. */
export function readTimeOfDay(text: string): TimeOfDay | undefined {
  if (Object.hasOwn(NAMED_TIMES, text)) return NAMED_TIMES[text];
  const [, hours, minutes = '0', half] = CLOCK.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const hour = hourOf(Number(hours), half);
  return hour === undefined ? undefined : { hour, minute: Number(minutes) };
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined;
  // 12 am is midnight and 12 pm is noon; 0 and 13 have no half.
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

const WEEKDAYS: readonly string[] = [
  'sun sunday sundays',
  'mon monday mondays',
  'tue tues tuesday tuesdays',
  'wed wednesday wednesdays',
  'thu thur thurs thursday thursdays',
  'fri friday fridays',
  'sat saturday saturdays',
];
const NUMBERS = new Map(WEEKDAYS.flatMap((names, day) => names.split(' ').map((name) => [name, day] as const)));
const GROUPS: Readonly<Record<string, string>> = { weekday: '1-5', weekdays: '1-5', weekend: '0,6', weekends: '0,6' };

/** The number of a weekday by its name in lower case, from 0 for Sunday to 6; undefined for anything else. */
export function readWeekday(name: string): number | undefined {
  return NUMBERS.get(name);
}

/** The cron field for `monday`, `monday and thursday`, `mon, wed and fri`, `weekday` or `weekend`; undefined for anything else. */
export function readWeekdays(text: string): string | undefined {
  if (Object.hasOwn(GROUPS, text)) return GROUPS[text];
  const days = text.split(/,? and |, ?/).map((name) => NUMBERS.get(name));
  const known = days.filter((day) => day !== undefined);
  if (known.length < days.length) return undefined;
  return [...new Set(known)].toSorted((a, b) => a - b).join(',');
}

/** Names without a place that mean the same zone everywhere. Other names of three letters (`IST`, `BST`, `PST`) are ambiguous. */
const SHORT_ZONES = new Set('UTC GMT UCT EST MST HST CET MET EET WET PRC ROC ROK'.split(' '));
const MAX_NAME_CHARACTERS = 64;

let spellings: ReadonlyMap<string, string> | undefined;

/**
 * The IANA zone of this name, in its usual spelling; without a name, the host's. An offset such as `+02:00` is refused: it has no clock
 * changes. Throws `schedule.unknown-zone`.
 */
export function readZone(name?: string | null): string {
  if (name === undefined || name === null) return Intl.DateTimeFormat().resolvedOptions().timeZone;
  spellings ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  const known = spellings.get(name.toLowerCase());
  if (known !== undefined) return known;
  if (isLink(name)) return name.length === 3 ? name.toUpperCase() : name;
  const shown = JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS));
  throw new MusterError('schedule.unknown-zone', `${shown} is no IANA time zone; one looks like Europe/Berlin or UTC`, {
    details: { given: shown },
  });
}

/** Older names of zones (`Asia/Kolkata` here, `US/Pacific`) are known without being listed. */
function isLink(name: string): boolean {
  if (name.length > MAX_NAME_CHARACTERS || !/^[A-Za-z]/.test(name)) return false;
  if (name.length === 3 && !SHORT_ZONES.has(name.toUpperCase())) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
