import { scheduleRequestSchema, type ScheduleRequest } from '#shared/schedules/changes/schedule-request.ts';

const HOUR_MS = 3_600_000;
const DAYS_AHEAD = 30;
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
/** So many hours from now on nothing is due, in any of the zones below; and after so many others it begins again. */
const QUIET_HOURS = 4;
const HOURS = 16;

/** What people make, in turns: crons, phrases, heartbeats and one-shots. None is due in the next two hours. */
export function requestOf(index: number): ScheduleRequest {
  const hour = (new Date().getUTCHours() + QUIET_HOURS + (index % HOURS)) % 24;
  const minute = index % 60;
  const rules = [
    { cron: `${minute} ${hour} * * 1-5`, tz: 'Europe/Berlin' },
    { phrase: `every ${WEEKDAYS[index % WEEKDAYS.length]} at ${hour}:${String(minute).padStart(2, '0')}`, tz: 'Europe/Berlin' },
    { every: '1d', tz: 'UTC' },
    { at: new Date(Date.now() + DAYS_AHEAD * 24 * HOUR_MS + index * 1000).toISOString(), tz: 'UTC' },
  ];
  return scheduleRequestSchema.parse({
    ...rules[index % rules.length],
    agent: 'echo',
    message: `Summarise what changed in project ${index} since the last report.`,
  });
}
