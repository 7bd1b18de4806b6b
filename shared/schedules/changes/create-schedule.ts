import { createHash } from 'node:crypto';
import { MusterError } from '../../errors/index.ts';
import { assertBytes, assertContext, type Intake } from '../../queue/index.ts';
import { canonicalJson, newTaskId, type ReplyAddress } from '../../tasks/index.ts';
import { tenantClosed } from '../../tenants/index.ts';
import { advanced } from '../firing/decide-firing.ts';
import { upcomingTimes } from '../firing/occurrences.ts';
import { readRule } from '../rules/read-rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { Schedule } from '../store/schedule.ts';
import { assertPlace, FIELD_DEFAULTS, ruleFields, scheduleFields } from './schedule-fields.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { SchedulePatch, ScheduleRequest } from './schedule-request.ts';

interface CreateScheduleOptions {
  tenant: string;
  /** Who asks for it in a chat. */
  user?: string | undefined;
  /** The place in a chat where its results go. */
  reply?: ReplyAddress | undefined;
  /** The session that its runs belong to, for a chat that shows what happens in one. */
  session?: string | undefined;
  /** W3C trace context that its runs belong to. */
  traceparent?: string | undefined;
  /** Under which it is made once; by default the request's own `idempotencyKey`. */
  key?: string | undefined;
  /** JSON of the configuration's, when it comes from there. */
  definition?: string | undefined;
}

interface CreatedSchedule {
  schedule: Schedule;
  /** False for a key that came before: it is the schedule that was made then. */
  isNew: boolean;
}

/**
 * Makes a schedule. Errors: `schedule.unreadable`, `schedule.unknown-zone`, `agent.unknown`, `request.invalid`, `request.too-large`, `limit.storage`,
 * `schedule.idempotency-conflict`, `tenant.disabled`, `tenant.ended`.
 */
export async function createSchedule(
  parts: ScheduleParts,
  request: ScheduleRequest,
  options: CreateScheduleOptions,
): Promise<CreatedSchedule> {
  const { tenant } = options;
  const key = options.key ?? ownKeyOf(request);
  // Sent again, a phrase like "in 5 minutes" means another time, and may by now be refused.
  const earlier = key === undefined ? null : await parts.store.findByKey(tenant, key);
  const schedule = earlier ?? (await newSchedule(parts, request, { ...options, key }));
  const answer = await parts.store.create(schedule, digestOf(request));
  switch (answer.kind) {
    case 'created':
      parts.log.info({ event: 'schedule.created', schedule: schedule.id, tenant, number: answer.number }, 'a schedule was made');
      return { schedule: { ...schedule, number: answer.number, version: 1 }, isNew: true };
    case 'known':
      return { schedule: (await parts.store.find(tenant, answer.id)) ?? schedule, isNew: false };
    case 'conflict':
      throw new MusterError('schedule.idempotency-conflict', 'This idempotency key was used for another schedule', {
        details: { id: answer.id },
      });
    case 'closed':
      throw tenantClosed(tenant, answer.state);
    case 'full':
      throw new MusterError('request.invalid', `A tenant has at most ${answer.count} schedules`, { details: { count: answer.count } });
  }
}

/** Told apart from the keys of writs and of the configuration, which no caller may take. */
function ownKeyOf({ idempotencyKey }: ScheduleRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : `api:${idempotencyKey}`;
}

async function newSchedule(parts: ScheduleParts, request: ScheduleRequest, options: CreateScheduleOptions): Promise<Schedule> {
  const { settings } = parts;
  const now = await parts.now();
  const tz = readZone(request.tz);
  const id = newTaskId();
  const { phrase, cron, every, at } = request;
  const read = readRule({ phrase, cron, every, at }, { tz, now, seed: id });
  await assertStorable(parts, options.tenant, request);
  await assertAgent(parts, options.tenant, request.agent);
  const schedule: Schedule = {
    ...FIELD_DEFAULTS,
    ...scheduleFields(request, settings.scheduler.maxCaughtUp),
    ...ruleFields(read, now),
    ...BEGINNING,
    ...origin(request, options),
    id,
    agent: request.agent,
    message: request.message,
    tz,
    createdAt: now,
    updatedAt: now,
  };
  assertPlace(schedule);
  const [nextFireAt] = upcomingTimes(schedule, now, 1);
  if (nextFireAt === undefined) throw new MusterError('request.invalid', 'until: this schedule would never fire');
  return { ...schedule, ...advanced(schedule, nextFireAt, settings.scheduler) };
}

type Origin = Pick<Schedule, 'tenant' | 'user' | 'reply' | 'session' | 'traceparent' | 'key' | 'definition' | 'platform'>;

/** Who made it, and where. */
function origin({ platform }: ScheduleRequest, options: CreateScheduleOptions): Origin {
  const { tenant, user = null, reply = null, session = null, traceparent = null, key = null, definition = null } = options;
  return { tenant, user, reply, session, traceparent, key, definition, platform: platform ?? reply?.platform ?? null };
}

const BEGINNING = {
  number: 0,
  version: 0,
  status: 'active',
  pausedReason: null,
  heldBy: null,
  nextFireAt: null,
  wakeAt: null,
  spreadFor: null,
  firing: [],
  lastOccurrence: null,
  lastRunAt: null,
  lastRunId: null,
  runCount: 0,
  failures: 0,
  countedUpTo: null,
  counted: [],
} satisfies Partial<Schedule>;

/** Refused now, and not each time that it fires. Errors: `request.too-large`, `limit.storage`. */
export async function assertStorable(parts: ScheduleParts, tenant: string, { message, context }: SchedulePatch): Promise<void> {
  const { tasks, scheduler } = parts.settings;
  if (message !== undefined) assertBytes('message', message, Math.min(tasks.maxInputBytes, scheduler.maxMessageBytes));
  // As it is counted when a run is accepted, which has no metadata.
  if (context) assertContext('context', [context, null], tasks.maxContextBytes);
  if (message === undefined && !context) return;
  parts.ledger.stored.assertRoom(tenant);
  await parts.store.assertRoom(tenant);
}

function digestOf(request: ScheduleRequest): string {
  return createHash('sha256').update(canonicalJson(request)).digest('base64url');
}

/** Throws `agent.unknown` for an agent that the tenant does not have, so that its owner finds out now and not when it fires. */
export async function assertAgent(parts: Pick<Intake, 'findAgent'>, tenant: string, agent: string): Promise<void> {
  if ((await parts.findAgent(tenant, agent)) === null) {
    throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
  }
}
