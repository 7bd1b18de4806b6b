import { useQueries } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { readTimesAfter } from './schedule-reads.ts';
import { countText } from '../../parts/numbers.tsx';
import { ownZone, zoneTime } from '../../parts/zone-time.ts';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './schedules.module.css';
import { extendTimes, weekOf, type DayPlan } from './week-of.ts';

/** The maximum that one preview of the API has. */
const TIMES = 100;
const STALE_MS = 60_000;

/** The coming week of the active schedules, day by day in the viewer's zone. */
export function WeekView({ schedules }: { schedules: readonly Schedule[] }): ReactElement {
  const active = schedules.filter(({ status, next }) => status === 'active' && next.length > 0);
  const queries = useQueries({
    queries: active.map((schedule) => ({
      queryKey: ['schedules', schedule.id, 'week', schedule.next[0]],
      queryFn: ({ signal }: { signal: AbortSignal }) => readTimesAfter(schedule, TIMES, signal),
      staleTime: STALE_MS,
    })),
  });
  const known = queries.map(({ data }) => data);
  const days = useMemo(
    () => {
      const now = Date.now();
      const all = active.map((schedule, place) => {
        const times = (known[place] ?? schedule.next).map((at) => Date.parse(at));
        return { schedule, times: times.length < TIMES ? times : extendTimes(times, now) };
      });
      return weekOf(all, now);
    },
    // oxlint-disable-next-line react/exhaustive-deps -- the lists are new with each render
    [JSON.stringify(active.map(({ id, next }) => [id, next])), known.map((times) => times?.length).join()],
  );
  return (
    <>
      <p className="faint">Times in {ownZone()}, the zone of this browser</p>
      <ol className={classes['week']} aria-label="The coming week">
        {days.map((day) => (
          <Day key={day.from} day={day} />
        ))}
      </ol>
    </>
  );
}

const DAY_NAME = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const SHOWN = 3;

function Day({ day: { from, entries } }: { day: DayPlan<Schedule> }): ReactElement {
  return (
    <li className="card">
      <h2>{DAY_NAME.format(from)}</h2>
      {entries.length === 0 ? <p className="faint">Nothing</p> : null}
      <ul>
        {entries.map(({ schedule, times }) => (
          <li
            key={schedule.id}
            title={times
              .slice(0, SHOWN)
              .map((at) => `${zoneTime(new Date(at).toISOString(), schedule.tz)} in ${schedule.tz}`)
              .join('\n')}
          >
            <span className="faint">{timesText(times)}</span>{' '}
            <PageLink href={`/schedules?open=${encodeURIComponent(schedule.id)}`}>{schedule.name ?? schedule.sentence}</PageLink>
          </li>
        ))}
      </ul>
    </li>
  );
}

/** `09:00, 15:00`, or how many there are from when on. */
function timesText(times: readonly number[]): string {
  const [first = 0] = times;
  if (times.length <= SHOWN) return times.map((at) => CLOCK.format(at)).join(', ');
  return `${countText(times.length)} times from ${CLOCK.format(first)}`;
}
