import { DEFAULT_TIME, type FormAnswer, type PhraseForm } from './phrase-form.ts';
import { readDuration } from './read-duration.ts';
import type { TimeOfDay } from './read-time-of-day.ts';
import { readWeekday } from './read-weekdays.ts';
import { dayOn, instantOn, readDay, type Moment } from './wall-time.ts';

type Day = ReturnType<typeof dayOn>;

/** The phrases that fire once. */
export const ONCE_FORMS: readonly PhraseForm[] = [inDuration, atTime, onDay];

/** `in 30 minutes`, `in an hour`, `in 2 days`: by the hours that pass, not by the wall. */
function inDuration({ head, times }: Parameters<PhraseForm>[0], { now }: Moment): FormAnswer {
  if (!head.startsWith('in ') || times.length > 0) return undefined;
  const ms = readDuration(head.slice(3).replace(/^an? /, '1 '));
  if (ms === undefined) return undefined;
  return ms < 1000 ? { wrong: 'is less than a second from now' } : { kind: 'once', at: now + ms };
}

/** `at 17:00`: today; tomorrow if that is past. */
function atTime({ head, times }: Parameters<PhraseForm>[0], moment: Moment): FormAnswer {
  const time = onlyOne(times);
  if (head !== '' || time === undefined) return undefined;
  const today = instantOn(dayOn(moment), time, moment.tz);
  return { kind: 'once', at: today > moment.now ? today : instantOn(dayOn(moment, 1), time, moment.tz) };
}

/** `today at 17:00`, `tomorrow`, `on 2026-06-01 at 12:00`, `next friday at 5pm`. */
function onDay({ head, times }: Parameters<PhraseForm>[0], moment: Moment): FormAnswer {
  // Today at the usual time is past more often than not: a person who leaves the time out means something else.
  if (times.length > 1 || (head === 'today' && times.length === 0)) return undefined;
  const day = dayOf(head, moment);
  return day === undefined ? undefined : { kind: 'once', at: instantOn(day, times[0] ?? DEFAULT_TIME, moment.tz) };
}

function dayOf(head: string, moment: Moment): Day | undefined {
  if (head === 'today') return dayOn(moment);
  if (head === 'tomorrow') return dayOn(moment, 1);
  if (head.startsWith('next ')) return nextWeekday(head.slice(5), moment);
  return readDay(head.replace(/^on /, ''));
}

/** The first such day after today; on a Friday, next Friday is a week away. */
function nextWeekday(name: string, moment: Moment): Day | undefined {
  const weekday = readWeekday(name);
  if (weekday === undefined) return undefined;
  const today = dayOn(moment).dayOfWeek;
  return dayOn(moment, ((weekday - today + 6) % 7) + 1);
}

function onlyOne(times: readonly TimeOfDay[]): TimeOfDay | undefined {
  return times.length === 1 ? times[0] : undefined;
}
