import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { nextTimes, readRule, readZone, ruleShape } from '#shared/schedules/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { previewSchema } from './schedule-view.ts';

const bodySchema = z.strictObject({
  ...ruleShape,
  tz: z.string().max(100).optional(),
  from: instantSchema.optional().meta({ description: 'From when on; by default now.' }),
  count: z.number().int().min(1).max(100).default(3),
});

/** `POST /v1/schedules/preview`: how a rule is understood, without making anything. */
export function previewSchedule(): Route {
  return route({
    method: 'post',
    path: '/v1/schedules/preview',
    summary: 'Read a rule and list its next times',
    scope: 'read',
    request: { body: bodySchema },
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
