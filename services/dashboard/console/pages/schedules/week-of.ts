const DAY_MS = 86_400_000;
const DAYS = 7;

/** A schedule with its times of the week, ascending. */
export interface ScheduleTimes<Schedule> {
  schedule: Schedule;
  times: readonly number[];
}

export interface DayPlan<Schedule> {
  /** The start of the day by the viewer's clock. */
  from: number;
  entries: { schedule: Schedule; times: readonly number[] }[];
}

/** The coming seven days by the viewer's clock, each with the schedules that fire on it, earliest first. */
export function weekOf<Schedule>(all: readonly ScheduleTimes<Schedule>[], now: number): DayPlan<Schedule>[] {
  const today = new Date(now);
  return Array.from({ length: DAYS }, (_, day) => {
    const from = new Date(today.getFullYear(), today.getMonth(), today.getDate() + day).getTime();
    const to = new Date(today.getFullYear(), today.getMonth(), today.getDate() + day + 1).getTime();
    const entries = all
      .map(({ schedule, times }) => ({ schedule, times: times.filter((at) => at >= from && at < to) }))
      .filter(({ times }) => times.length > 0)
      .toSorted((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0));
    return { from, entries };
  });
}

/** The times of a week of which only the first are known: an interval goes on to the end. */
export function extendTimes(times: readonly number[], now: number): number[] {
  const end = now + DAYS * DAY_MS;
  const [last, before] = [times.at(-1), times.at(-2)];
  const step = last !== undefined && before !== undefined ? last - before : 0;
  if (last === undefined || step <= 0 || !isEven(times, step)) return [...times];
  const count = Math.max(0, Math.floor((end - last) / step));
  return [...times, ...Array.from({ length: count }, (_, place) => last + (place + 1) * step)];
}

function isEven(times: readonly number[], step: number): boolean {
  return times.every((at, place) => place === 0 || at - (times[place - 1] ?? 0) === step);
}
