const NAMES: readonly string[] = [
  'sun sunday sundays',
  'mon monday mondays',
  'tue tues tuesday tuesdays',
  'wed wednesday wednesdays',
  'thu thur thurs thursday thursdays',
  'fri friday fridays',
  'sat saturday saturdays',
];
const NUMBERS = new Map(NAMES.flatMap((names, day) => names.split(' ').map((name) => [name, day] as const)));
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
