import { MusterError } from '../../errors/index.ts';
import { laneOfTask, readStates } from '../../ledger/index.ts';
import { type AcceptRequest, acceptTask } from '../../queue/index.ts';
import { traceIdOf, traceparentFor } from '../../log/index.ts';
import { sessionOf, WEB_CHAT } from '../platforms.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Firing, Schedule } from '../store/schedule.ts';

/** The task of a decided run. */
export interface AcceptedRun {
  /** Another id than the decided one when the occurrence had been accepted under that. */
  task: string;
  /** What its task says, whatever was decided: an earlier acceptance whose reply was lost is the one that counts. */
  isSkipped: boolean;
}

type Refusal =
  /** A limit, or Redis is unavailable. */
  | { kind: 'later'; afterMs: number; reason: string }
  /** A budget that denies is used up. */
  | { kind: 'no-money'; afterMs: number; reason: string }
  | { kind: 'no-agent' }
  /** Until the tenant is enabled again. */
  | { kind: 'tenant-disabled' }
  /** Refused for as long as the schedule stays as it is. */
  | { kind: 'refused'; reason: string };

/** `accepted`: the first of the decided runs, in their order; all of them unless one was refused. */
export type AcceptRunsAnswer = { accepted: AcceptedRun[] } & ({ kind: 'accepted' } | Refusal);

/** Accepts the decided runs of a schedule, in their order. It is idempotent, so another process may repeat it from the record. */
export async function acceptRuns(parts: ScheduleParts, schedule: Schedule): Promise<AcceptRunsAnswer> {
  const accepted: AcceptedRun[] = [];
  for (const firing of schedule.firing) {
    try {
      const request = runRequest(schedule, firing);
      const { id, isDuplicate, status, outcome } = await acceptAsSpan(parts, schedule, request);
      // The record of an earlier task may not be kept any more.
      const isSkipped = status === null ? firing.skip !== undefined : outcome?.kind === 'skipped';
      accepted.push({ task: id, isSkipped });
      logRun(parts, schedule, firing, { task: id, trace: traceIdOf(request.traceparent ?? ''), isDuplicate, isSkipped });
    } catch (error) {
      return { accepted, ...refusalOf(error, parts.settings.scheduler.retryMs) };
    }
  }
  return { accepted, kind: 'accepted' };
}

/** An occurrence begins a trace, whose ids follow from its task: repeated after a crash, it is the same span. */
async function acceptAsSpan(parts: ScheduleParts, { id, traceparent }: Schedule, request: AcceptRequest): ReturnType<typeof acceptTask> {
  const span = parts.ledger.traces?.enter('schedule run', {
    as: request.traceparent,
    parent: null,
    // The request that made the schedule.
    links: traceparent === null ? [] : [traceparent],
    attributes: { 'muster.schedule.id': id, 'muster.task.id': request.id },
  });
  if (span === undefined) return await acceptTask(parts, request);
  request.traceparent = span.traceparent;
  try {
    return await acceptTask(parts, request);
  } finally {
    span.end();
  }
}

/** The decided runs that have a task already, in their order up to the first that has none: a process died before it settled them. */
export async function findAccepted({ ledger }: Pick<ScheduleParts, 'ledger'>, { tenant, firing }: Schedule): Promise<AcceptedRun[]> {
  const ids = firing.map(({ id }) => id);
  const states = await readStates(ledger, tenant, ids);
  const missing = states.indexOf(null);
  const found = missing === -1 ? states : states.slice(0, missing);
  return found.map((state, position) => ({ task: ids[position] ?? '', isSkipped: state?.outcome?.kind === 'skipped' }));
}

/** The key under which an occurrence is accepted once. */
export function keyOfRun({ id }: Pick<Schedule, 'id'>, occurrence: number): string {
  return `${id}:${occurrence}`;
}

/**
 * The task of a run. `scheduledFor` is the occurrence, under whose key it is accepted once. Its trace follows from its id, so that every
 * attempt to accept it has the same one.
 */
export function runRequest(schedule: Schedule, firing: Firing): AcceptRequest {
  const { tenant, agent, message, priority, channel, user, madeBy } = schedule;
  const { id, occurrence, skip, missed } = firing;
  const key = keyOfRun(schedule, occurrence);
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
    ...(madeBy?.untrusted === true ? { untrusted: true } : {}),
    ...withoutNull({ priority, channel, user }),
    ...(missed === undefined ? {} : { metadata: { missed: { count: missed.count, from: new Date(missed.from).toISOString() } } }),
    ...(skip === undefined ? fieldsToRun(schedule, id) : { skip: { reason: skip } }),
  };
}

/** Only a task that runs needs these fields; there may be very many skipped ones. */
function fieldsToRun(schedule: Schedule, run: string): Partial<AcceptRequest> {
  return { ...withoutNull({ context: schedule.context, within: schedule.withinMs }), ...orderOf(schedule, run), ...deliveryOf(schedule) };
}

/**
 * A run goes on beside the conversation that it reports to, whatever the surface: neither waits for the other, and no message there interrupts
 * it. It meets only other runs of its schedule.
 */
function orderOf(schedule: Schedule, run: string): Partial<AcceptRequest> {
  const { id, overlap } = schedule;
  const session = sessionOf(schedule);
  if (session === null && overlap === 'allow') return {};
  const name = overlap === 'allow' ? laneOfTask(run) : scheduleLane(id);
  return { ...withoutNull({ session }), lane: { name, limit: 1 }, ...(overlap === 'cancel-other' ? { mode: 'interrupt' } : {}) };
}

/** The lane in which the runs of a schedule follow each other, unless they may overlap. */
export function scheduleLane(scheduleId: string): string {
  return `schedule:${scheduleId}`;
}

function deliveryOf({ reply, platform, channel, callbackUrl }: Schedule): Partial<AcceptRequest> {
  const named = platform === null || platform === WEB_CHAT || channel === null ? null : { platform, thread: channel };
  return withoutNull({ reply: reply ?? named, callbackUrl });
}

type NonNull<T> = { [Field in keyof T]?: NonNullable<T[Field]> };

function withoutNull<T extends object>(fields: T): NonNull<T> {
  // The remaining fields have values.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as NonNull<T>;
}

function logRun(
  { log }: ScheduleParts,
  { id, tenant, traceparent }: Schedule,
  { occurrence, skip }: Firing,
  { isSkipped, ...run }: AcceptedRun & { trace: string; isDuplicate: boolean },
): void {
  // The trace of the request that created the schedule.
  const madeIn = traceparent === null ? undefined : traceIdOf(traceparent);
  log.info(
    { event: 'schedule.fired', schedule: id, tenant, ...run, occurrence, skip, madeIn },
    isSkipped ? 'an occurrence was skipped' : 'a schedule fired',
  );
}

function refusalOf(error: unknown, retryMs: number): Refusal {
  const reason = error instanceof Error ? error.message : String(error);
  // Any other error comes from Redis or the network.
  const code = error instanceof MusterError ? error.code : 'unavailable.redis';
  if (code === 'limit.budget') return { kind: 'no-money', afterMs: retryMs, reason };
  if (code === 'agent.unknown') return { kind: 'no-agent' };
  // A deleted tenant (`tenant.ended`) never comes back, and its records are about to be removed: that refusal is final.
  if (code === 'tenant.disabled') return { kind: 'tenant-disabled' };
  if (!code.startsWith('limit.') && !code.startsWith('unavailable.')) return { kind: 'refused', reason };
  // Only the acceptance is retried here; the retries of an accepted run follow the `retryDelayMs` of its agent.
  return { kind: 'later', afterMs: Math.max(retryMs, (error instanceof MusterError && error.retryAfterMs) || 0), reason };
}
