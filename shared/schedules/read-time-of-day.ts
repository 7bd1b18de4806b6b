/** A time by the clock on the wall. */
export interface TimeOfDay {
  /** 0 to 23. */
  hour: number;
  minute: number;
}

const NAMED: Readonly<Record<string, TimeOfDay>> = { noon: { hour: 12, minute: 0 }, midnight: { hour: 0, minute: 0 } };
const CLOCK = /^(\d{1,2})(?::([0-5]\d))? ?(am|pm)?$/;

/** `09:00`, `9`, `17`, `9am`, `5:30 pm`, `noon`, `midnight`, in lower case; undefined for anything else. Without am or pm the day has 24 hours. */
export function readTimeOfDay(text: string): TimeOfDay | undefined {
  if (Object.hasOwn(NAMED, text)) return NAMED[text];
  const [, hours, minutes = '0', half] = CLOCK.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const hour = hourOf(Number(hours), half);
  return hour === undefined ? undefined : { hour, minute: Number(minutes) };
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined;
  // 12 am is midnight, 12 pm is noon, and 0 and 13 have no half.
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}
