import type { AcceptRequest } from '../queue/index.ts';
import { traceparentFor } from '../tasks/index.ts';
import { sessionOf, WEB_CHAT } from './places/schedule-platform.ts';
import { scheduleLane } from './schedule-lane.ts';
import type { Firing, Schedule } from './schedule.ts';

/**
 * What is accepted for a run: a task of the schedule. Its `scheduledFor` is the occurrence, and `<schedule>:<occurrence>` the key
 * under which it is accepted once. It has a trace of its own, which is the same however often it is accepted.
 */
export function runRequest(schedule: Schedule, firing: Firing): AcceptRequest {
  const { tenant, agent, message, priority, channel, user } = schedule;
  const { id, occurrence, skip, missed } = firing;
  const key = `${schedule.id}:${occurrence}`;
  return {
    id,
    tenant,
    agent,
    input: message,
    source: 'schedule',
    scheduleId: schedule.id,
    trigger: schedule.rule.kind,
    scheduledFor: new Date(occurrence).toISOString(),
    idempotencyKey: key,
    idempotencyBody: key,
    traceparent: traceparentFor(id),
    ...withoutNull({ priority, channel, user }),
    ...(missed === undefined ? {} : { metadata: { missed: { count: missed.count, from: new Date(missed.from).toISOString() } } }),
    ...(skip === undefined ? workOf(schedule) : { skip: { reason: skip } }),
  };
}

/** What only a task that runs needs; of skipped ones there may be very many. */
function workOf(schedule: Schedule): Partial<AcceptRequest> {
  return { ...withoutNull({ context: schedule.context }), ...orderOf(schedule), ...deliveryOf(schedule) };
}

/** In a session it waits like all else there, and stops nobody else's work. */
function orderOf(schedule: Schedule): Partial<AcceptRequest> {
  const { id, overlap } = schedule;
  const session = sessionOf(schedule);
  if (session !== null) return { session };
  if (overlap === 'allow') return {};
  return { lane: { name: scheduleLane(id), limit: 1 }, ...(overlap === 'cancel-other' ? { mode: 'interrupt' } : {}) };
}

function deliveryOf({ reply, platform, channel, callbackUrl }: Schedule): Partial<AcceptRequest> {
  const named = platform === null || platform === WEB_CHAT || channel === null ? null : { platform, thread: channel };
  return withoutNull({ reply: reply ?? named, callbackUrl });
}

type NonNull<T> = { [Field in keyof T]?: NonNullable<T[Field]> };

function withoutNull<T extends object>(fields: T): NonNull<T> {
  // What is left has these fields or lacks them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as NonNull<T>;
}
