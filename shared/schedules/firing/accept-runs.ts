import { MusterError } from '../../errors/index.ts';
import { type AcceptRequest, acceptTask } from '../../queue/index.ts';
import { traceIdOf, traceparentFor } from '../../tasks/index.ts';
import type { Firing, Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { sessionOf, WEB_CHAT } from '../platforms.ts';

export type AcceptRunsAnswer =
  | { kind: 'accepted' }
  /** Not now: a limit, or Redis is away. */
  | { kind: 'later'; afterMs: number; reason: string }
  | { kind: 'no-agent' }
  /** Not as long as the schedule is as it is. */
  | { kind: 'refused'; reason: string };

/**
 * Accepts the runs that were decided for a schedule, in their order. Doing it again makes no second task, so whoever finds them in
 * the record may.
 */
export async function acceptRuns(parts: ScheduleParts, schedule: Schedule): Promise<AcceptRunsAnswer> {
  for (const firing of schedule.firing) {
    try {
      const request = runRequest(schedule, firing);
      logFiring(parts, schedule, { request, ...(await acceptTask(parts, request)) }, firing);
    } catch (error) {
      return refusalOf(error, parts.settings.scheduler.retryMs);
    }
  }
  return { kind: 'accepted' };
}

interface AcceptedRun {
  request: AcceptRequest;
  id: string;
  isDuplicate: boolean;
}

function logFiring(
  { log }: ScheduleParts,
  schedule: Schedule,
  { request, id, isDuplicate }: AcceptedRun,
  { occurrence, skip }: Firing,
): void {
  const fields = { schedule: schedule.id, tenant: schedule.tenant, task: id, trace: traceIdOf(request.traceparent ?? '') };
  // The request that made the schedule has another trace.
  const madeIn = schedule.traceparent === null ? undefined : traceIdOf(schedule.traceparent);
  log.info(
    { event: 'schedule.fired', ...fields, occurrence, skip, isDuplicate, madeIn },
    skip === undefined ? 'a schedule fired' : 'an occurrence was skipped',
  );
}

function refusalOf(error: unknown, retryMs: number): AcceptRunsAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  // What is no error of ours is Redis's or the network's.
  const code = error instanceof MusterError ? error.code : 'unavailable.redis';
  if (code === 'agent.unknown') return { kind: 'no-agent' };
  if (!code.startsWith('limit.') && !code.startsWith('unavailable.')) return { kind: 'refused', reason };
  return { kind: 'later', afterMs: Math.max(retryMs, (error instanceof MusterError && error.retryAfterMs) || 0), reason };
}

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

/** The lane in which the runs of a schedule follow each other, unless it lets them overlap. */
export function scheduleLane(scheduleId: string): string {
  return `schedule:${scheduleId}`;
}
