import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { nextTimes, readRule, readZone, ruleShape, type ScheduleParts, scheduleRecord, skipOccurrence } from '#shared/schedules/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { scheduleNotFound, schedulePathSchema } from './schedule-path.ts';
import { previewSchema, scheduleViewSchema } from './schedule-view.ts';

const previewBodySchema = z
  .strictObject({
    ...ruleShape,
    tz: z.string().max(100).optional().meta({ description: "IANA zone; by default the host's." }),
    from: instantSchema.optional().meta({ description: 'From when on; by default now.' }),
    count: z.number().int().min(1).max(100).default(3).meta({ description: 'How many times.' }),
  })
  .meta({ id: 'SchedulePreviewRequest', examples: [{ phrase: 'every monday at 09:00', tz: 'Europe/Berlin' }] });

/** `POST /v1/schedules/preview`: how a rule is understood, without creating a schedule. */
export function postSchedulePreview(): Route {
  return route({
    method: 'post',
    path: '/v1/schedules/preview',
    isCostly: true,
    operationId: 'previewSchedule',
    summary: 'Read a rule and list its next times',
    scope: 'read',
    errors: ['schedule.unreadable', 'schedule.unknown-zone'],
    audit: 'never',
    request: { body: previewBodySchema },
    responses: { 200: previewSchema },
    handle: ({ body: { phrase, cron, every, at, tz: zone, from, count } }) => {
      const now = from === undefined ? Date.now() : Date.parse(from);
      const tz = readZone(zone);
      const { rule, text, sentence } = readRule({ phrase, cron, every, at }, { tz, now });
      const next = nextTimes(rule, { tz, after: now, count }).map((time) => toIso(time));
      return { status: 200, body: { kind: rule.kind, rule: text, sentence, tz, next } };
    },
  });
}

const skipBodySchema = z
  .strictObject({ occurrence: instantSchema.meta({ description: 'The next occurrence, `nextFireAt` of the schedule.' }) })
  .meta({ id: 'SkipRequest', examples: [{ occurrence: '2026-06-01T07:00:00.000Z' }] });

/** `POST /v1/schedules/:id/skip`. */
export function postScheduleSkip(parts: ScheduleParts): Route {
  return route({
    method: 'post',
    path: '/v1/schedules/:id/skip',
    operationId: 'skipOccurrence',
    summary: 'Skip the next occurrence of a schedule',
    description: 'Its list of runs shows it as skipped. Another occurrence than the next one answers 409 `schedule.wrong-state`.',
    scope: 'submit',
    errors: ['schedule.not-found', 'schedule.wrong-state', 'schedule.busy'],
    request: { params: schedulePathSchema, body: skipBodySchema },
    responses: { 200: scheduleViewSchema },
    handle: async ({ params: { id }, body: { occurrence } }, { tenant }) => {
      const schedule = await skipOccurrence(parts, tenant, id, Date.parse(occurrence));
      if (!schedule) throw scheduleNotFound(id);
      return { status: 200, body: scheduleRecord(schedule) };
    },
  });
}
