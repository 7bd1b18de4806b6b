import { createHash } from 'node:crypto';
import { MusterError } from '../../errors/index.ts';
import { measureKey } from '../../ledger/index.ts';
import { assertBytes, assertContext, assertWithin, type Intake } from '../../queue/index.ts';
import { canonicalJson, newTaskId, type ReplyAddress } from '../../tasks/index.ts';
import { tenantClosed } from '../../tenants/index.ts';
import { upcomingTimes, wakeFor } from '../firing/occurrences.ts';
import { readRule } from '../rules/read-rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { Schedule, ScheduleMaker } from '../store/schedule.ts';
import { assertPlace, FIELD_DEFAULTS, ruleFields, scheduleFields, type SchedulePatch, type ScheduleRequest } from './schedule-request.ts';

interface CreateScheduleOptions {
  tenant: string;
  /** The person who creates it in a chat. */
  user?: string | undefined;
  /** The place in a chat that receives its results. */
  reply?: ReplyAddress | undefined;
  /** The session of its runs, for web chat. */
  session?: string | undefined;
  /** The W3C trace context of the request. */
  traceparent?: string | undefined;
  /** The key under which it is created once; by default the request's own `idempotencyKey`. */
  key?: string | undefined;
  /** Who wrote the directive that creates it. */
  madeBy?: ScheduleMaker | undefined;
  /** The configuration's JSON, for a schedule of the configuration. */
  definition?: string | undefined;
}

interface CreatedSchedule {
  schedule: Schedule;
  /** False for a known key: then it is the schedule that was created under it. */
  isNew: boolean;
}

/**
 * Creates a schedule. Errors: `schedule.unreadable`, `schedule.unknown-zone`, `agent.unknown`, `request.invalid`, `request.too-large`,
 * `limit.storage`, `schedule.idempotency-conflict`, `tenant.disabled`, `tenant.ended`.
 */
export async function createSchedule(
  parts: ScheduleParts,
  request: ScheduleRequest,
  options: CreateScheduleOptions,
): Promise<CreatedSchedule> {
  const { tenant } = options;
  const key = options.key ?? ownKeyOf(request);
  // A phrase like "in 5 minutes" means another time when it is sent again, and may be refused by now.
  const known = key === undefined ? null : await parts.store.findByKey(tenant, key);
  const schedule = known ?? (await newSchedule(parts, request, { ...options, key }));
  const answer = await parts.store.create(schedule, digestOf(request));
  switch (answer.kind) {
    case 'created':
      parts.log.info({ event: 'schedule.created', schedule: schedule.id, tenant, number: answer.number }, 'a schedule was created');
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

/** The prefix keeps callers off the keys of directives and of the configuration. */
function ownKeyOf({ idempotencyKey }: ScheduleRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : `api:${idempotencyKey}`;
}

function digestOf(request: ScheduleRequest): string {
  return createHash('sha256').update(canonicalJson(request)).digest('base64url');
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
    ...INITIAL_STATE,
    ...originOf(request, options),
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
  return { ...schedule, ...wakeFor(schedule, nextFireAt, settings.scheduler) };
}

type Origin = Pick<Schedule, 'tenant' | 'user' | 'reply' | 'session' | 'traceparent' | 'key' | 'definition' | 'platform' | 'madeBy'>;

/** Who created it, and where. */
function originOf({ platform }: ScheduleRequest, options: CreateScheduleOptions): Origin {
  const { tenant, user = null, traceparent = null, key = null, definition = null, madeBy = null } = options;
  return { tenant, user, traceparent, key, definition, madeBy, ...placeOf(options, platform) };
}

type Place = Pick<Schedule, 'reply' | 'session' | 'platform'>;

function placeOf(options: CreateScheduleOptions, platform: ScheduleRequest['platform']): Place {
  const { reply = null, session = null } = options;
  return { reply, session, platform: platform ?? reply?.platform ?? null };
}

const INITIAL_STATE = {
  number: 0,
  version: 0,
  status: 'active',
  pausedReason: null,
  heldBy: null,
  nextFireAt: null,
  zoneData: null,
  wakeAt: null,
  spreadFor: null,
  firing: [],
  lastOccurrence: null,
  lastRunAt: null,
  lastRunId: null,
  runBefore: null,
  runCount: 0,
  failures: 0,
  failedCost: null,
  countedUpTo: null,
  counted: [],
} satisfies Partial<Schedule>;

/** Refuses now what every run would be refused for. Errors: `request.too-large`, `limit.storage`. */
export async function assertStorable(parts: ScheduleParts, tenant: string, { message, context, within }: SchedulePatch): Promise<void> {
  const { tasks, scheduler, modelBatches } = parts.settings;
  assertWithin(within, modelBatches);
  if (message !== undefined) assertBytes('message', message, Math.min(tasks.maxInputBytes, scheduler.maxMessageBytes));
  // Counted as for a run, which has no metadata.
  if (context) assertContext('context', [context, null], tasks.maxContextBytes);
  if (message === undefined && !context) return;
  parts.ledger.stored.assertRoom(tenant);
  const bytes = await measureKey(parts.redis, parts.keys.tenant(tenant).schedules);
  const { maxBytesPerTenant } = scheduler;
  if (bytes < maxBytesPerTenant) return;
  throw new MusterError('limit.storage', `The schedules of a tenant take at most ${maxBytesPerTenant} bytes, and take ${bytes}`, {
    details: { maxBytesPerTenant, bytes },
  });
}

/** Refuses an agent that the tenant does not have, before the schedule fires. Errors: `agent.unknown`. */
export async function assertAgent(parts: Pick<Intake, 'findAgent'>, tenant: string, agent: string): Promise<void> {
  if ((await parts.findAgent(tenant, agent)) === null) {
    throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
  }
}
