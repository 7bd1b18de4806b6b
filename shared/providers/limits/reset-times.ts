import { Temporal } from 'temporal-polyfill';

/** Now, and the zone of times that name none: the machine's whose program wrote them. */
export interface ReadingPlace {
  readonly nowMs: number;
  readonly zone: string;
}

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
/** Units by how they begin; the first that fits counts. */
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|millis)/, 1],
  [/^mo/, 30 * DAY],
  [/^m/, 60 * SECOND],
  [/^s/, SECOND],
  [/^h/, HOUR],
  [/^d/, DAY],
  [/^w/, 7 * DAY],
];
const COUNT = String.raw`(?:\d+(?:\.\d+)?|an?|one)`;
const UNIT = String.raw`(?:ms|milliseconds?|months?|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d|weeks?|wks?|w)`;
const PART = String.raw`${COUNT} ?${UNIT}(?![a-z])`;
const PARTS = new RegExp(String.raw`(${COUNT}) ?(${UNIT})(?![a-z])`, 'gi');
/** Parts may stand together, as in `3h20m15s`. */
const DURATION = new RegExp(String.raw`\b${PART}(?:(?:,? and |, | )?${PART})*`, 'i');
const STOPWATCH = /\b(?:in|after) (\d{1,3}):(\d\d)(?::(\d\d))?\b/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const MONTH = String.raw`(?<month>${MONTHS.join('|')})[a-z]*\.?`;
const DAY_OF_MONTH = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:]| ?[ap]\.?m)`;
const DATES: readonly RegExp[] = [
  new RegExp(String.raw`\b(?<year>\d{4})[-/](?<number>\d\d)[-/](?<day>\d\d)(?!\d)`, 'i'),
  new RegExp(String.raw`\b(?<day>\d{1,2})\.(?<number>\d{1,2})\.(?<year>\d{4})\b`, 'i'),
  new RegExp(String.raw`\b(?<number>\d{1,2})/(?<day>\d{1,2})/(?<year>\d{4}|\d\d)\b`, 'i'),
  new RegExp(String.raw`\b${MONTH} ${DAY_OF_MONTH}(?:,? (?<year>20\d\d))?`, 'i'),
  new RegExp(String.raw`\b${DAY_OF_MONTH} (?:of )?${MONTH}(?:,? (?<year>20\d\d))?`, 'i'),
  /\b(?<relative>today|tomorrow)\b/i,
  new RegExp(String.raw`\b(?<weekday>${WEEKDAYS.join('|')})(?:[a-z]*day|s|nes|rs|ur)?\b`, 'i'),
];
const CLOCK = String.raw`(?:(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?::(?<second>\d\d))?(?:\.\d+)? ?(?<half>[ap])\.?m\b\.?|(?<hour24>\d{1,2}):(?<minute24>\d\d)(?::(?<second24>\d\d))?(?:\.\d+)?|(?<named>noon|midnight))`;
const CLOCK_FIRST = new RegExp(String.raw`(?<![\d:/])${CLOCK}`, 'i');
const CLOCK_AFTER = new RegExp(String.raw`^(?:T|,? ?(?:at|by|@|on)? ?)${CLOCK}`, 'i');
const CLOCK_BEFORE = new RegExp(String.raw`(?<![\d:/])${CLOCK}(?<zone>[^.;]{0,24}?),?(?: on)? $`, 'i');

/** Short names of zones that limits are written in; those of several zones are read as in the country of the programs that write them. */
const ZONES: Readonly<Record<string, string>> = {
  utc: 'UTC',
  gmt: 'UTC',
  z: 'UTC',
  pt: 'America/Los_Angeles',
  pst: '-08:00',
  pdt: '-07:00',
  mt: 'America/Denver',
  mst: '-07:00',
  mdt: '-06:00',
  ct: 'America/Chicago',
  cst: '-06:00',
  cdt: '-05:00',
  et: 'America/New_York',
  est: '-05:00',
  edt: '-04:00',
  akst: '-09:00',
  akdt: '-08:00',
  hst: '-10:00',
  brt: '-03:00',
  art: '-03:00',
  wet: '+00:00',
  west: '+01:00',
  bst: '+01:00',
  cet: '+01:00',
  cest: '+02:00',
  eet: '+02:00',
  eest: '+03:00',
  msk: '+03:00',
  ist: '+05:30',
  sgt: '+08:00',
  hkt: '+08:00',
  awst: '+08:00',
  jst: '+09:00',
  kst: '+09:00',
  aest: '+10:00',
  aedt: '+11:00',
  nzst: '+12:00',
  nzdt: '+13:00',
};
const IANA = /^[ (,[]*([A-Z][A-Za-z]+(?:\/[A-Za-z\d_+-]+)+)/;
const OFFSET = /^[ (,[]*(?:UTC|GMT)? ?([+-])(\d{1,2})(?::?([0-5]\d))?(?!\d)/i;
const SHORT = /^[ (,[]*([A-Za-z]{1,4})\b(?! ?[+\-/]\d)/;

/** A time that lies so far back has passed; a clock's time is of today then, and not of tomorrow. */
const PASSED_MS = HOUR;

/** Milliseconds of the first duration: `2 hours 30 minutes`, `3h20m15s`, `an hour`, `02:15:30` after "in". */
function findDuration(text: string): { ms: number; at: number } | null {
  const watch = STOPWATCH.exec(text);
  if (watch) {
    const [, hours, minutes, seconds = '0'] = watch;
    return { ms: Number(hours) * HOUR + Number(minutes) * 60 * SECOND + Number(seconds) * SECOND, at: watch.index };
  }
  const found = DURATION.exec(text);
  if (!found) return null;
  const parts = [...found[0].matchAll(PARTS)];
  const ms = parts.reduce(
    (total, [, count = '', unit = '']) => total + (/^\d/.test(count) ? Number.parseFloat(count) : 1) * unitMs(unit),
    0,
  );
  return { ms, at: found.index };
}

function unitMs(unit: string): number {
  return UNITS.find(([form]) => form.test(unit.toLowerCase()))?.[1] ?? 0;
}

/** The time that a text names, ms since the epoch, as programs write it when a limit ends; null for none, or one that is past. */
export function findTime(text: string, place: ReadingPlace): number | null {
  const duration = findDuration(text);
  const date = findDate(text);
  const clock = CLOCK_FIRST.exec(text);
  const first = Math.min(date?.index ?? Infinity, clock?.index ?? Infinity);
  if (duration !== null && duration.at <= first) return future(place.nowMs + duration.ms, place);
  if (date !== null) return future(readDate(text, date, place), place);
  return clock === null ? null : future(readTimeOfDay(text, clock, place), place);
}

function future(at: number | null, { nowMs }: ReadingPlace): number | null {
  return at !== null && at > nowMs ? Math.round(at) : null;
}

function findDate(text: string): RegExpExecArray | null {
  return DATES.map((form) => form.exec(text)).find((found) => found !== null) ?? null;
}

interface Clock {
  readonly time: Temporal.PlainTime;
  readonly zone: string | null;
}

function readDate(text: string, found: RegExpExecArray, place: ReadingPlace): number | null {
  const after = text.slice(found.index + found[0].length);
  const before = text.slice(0, found.index);
  const clock = readClock(CLOCK_AFTER.exec(after), after) ?? readClock(CLOCK_BEFORE.exec(before), '');
  const { time, zone = null } = clock ?? { time: new Temporal.PlainTime() };
  return nearest(found.groups ?? {}, time, { ...place, zone: zone ?? readZone(after) ?? place.zone });
}

/** Without a year, the nearest day of its name: of the next year before New Year, of the last one after it. */
function nearest(groups: Record<string, string | undefined>, time: Temporal.PlainTime, { nowMs, zone }: ReadingPlace): number | null {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone).toPlainDate();
  const instants = daysOf(groups, today).map((day) => instantOf(day, time, zone));
  const ahead = instants.find((at) => at > nowMs) ?? null;
  const [closest = null] = instants.toSorted((a, b) => Math.abs(a - nowMs) - Math.abs(b - nowMs));
  return groups['weekday'] === undefined ? closest : ahead;
}

/** The days that a date may be. */
function daysOf(
  { month, number, day, year, weekday, relative }: Record<string, string | undefined>,
  today: Temporal.PlainDate,
): Temporal.PlainDate[] {
  if (relative !== undefined) return [today.add({ days: relative.toLowerCase() === 'today' ? 0 : 1 })];
  if (weekday !== undefined) {
    const days = (WEEKDAYS.indexOf(weekday.toLowerCase()) + 8 - today.dayOfWeek) % 7;
    return [today.add({ days }), today.add({ days: days + 7 })];
  }
  const named = month === undefined ? Number(number) : MONTHS.indexOf(month.toLowerCase()) + 1;
  // A month beyond the twelfth is a day.
  const [inYear, inMonth] = named > 12 ? [Number(day), named] : [named, Number(day)];
  const years = year === undefined ? [today.year - 1, today.year, today.year + 1] : [Number(year) + (year.length === 2 ? 2000 : 0)];
  return years.flatMap((each) => plainDate(each, inYear, inMonth));
}

function plainDate(year: number, month: number, day: number): Temporal.PlainDate[] {
  try {
    return [Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' })];
  } catch {
    return [];
  }
}

function readTimeOfDay(text: string, found: RegExpExecArray, place: ReadingPlace): number | null {
  const clock = readClock(found, text.slice(found.index));
  if (clock === null) return null;
  const zone = clock.zone ?? place.zone;
  const today = Temporal.Instant.fromEpochMilliseconds(place.nowMs).toZonedDateTimeISO(zone).toPlainDate();
  const instants = [-1, 0, 1].map((days) => instantOf(today.add({ days }), clock.time, zone));
  return instants.find((at) => at > place.nowMs - PASSED_MS) ?? null;
}

/** The time of a match, with the zone behind it in `text`, which begins with the match. */
function readClock(found: RegExpExecArray | null, text: string): Clock | null {
  if (found === null) return null;
  const groups = found.groups ?? {};
  const [hour, minute, second] = [readHour(groups), readPart(groups, 'minute'), readPart(groups, 'second')];
  if (hour > 24 || minute > 59 || second > 59) return null;
  const zone = readZone(groups['zone'] ?? text.slice(found[0].length));
  return { time: Temporal.PlainTime.from({ hour: hour % 24, minute, second }), zone };
}

function readPart(groups: Record<string, string | undefined>, part: 'minute' | 'second'): number {
  return Number(groups[part] ?? groups[`${part}24`] ?? 0);
}

function readHour({ hour, half, hour24, named }: Record<string, string | undefined>): number {
  if (named !== undefined) return named.toLowerCase() === 'noon' ? 12 : 0;
  if (hour === undefined) return Number(hour24);
  return (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0);
}

function instantOf(day: Temporal.PlainDate, time: Temporal.PlainTime, timeZone: string): number {
  return day.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
}

/** The zone that a text begins with: `(America/New_York)`, `UTC+8`, `GMT-3`, `PST`. */
function readZone(text: string): string | null {
  const iana = IANA.exec(text)?.[1];
  if (iana !== undefined) return isZone(iana) ? iana : null;
  const offset = OFFSET.exec(text);
  if (offset !== null) return readOffset(offset);
  const short = SHORT.exec(text)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ZONES, short) ? (ZONES[short] ?? null) : null;
}

function readOffset([, sign, hours = '', minutes = '00']: RegExpExecArray): string | null {
  return Number(hours) <= 14 ? `${sign}${hours.padStart(2, '0')}:${minutes}` : null;
}

function isZone(name: string): boolean {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId !== '';
  } catch {
    return false;
  }
}
