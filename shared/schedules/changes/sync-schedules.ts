import { invalidConfig, type Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { changeSchedule } from './change-schedule.ts';
import { createSchedule } from './create-schedule.ts';
import { patchSchedule, resume } from './patch-schedule.ts';
import { readRule } from '../rules/read-rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { Schedule } from '../store/schedule.ts';
import { scheduleFields } from './schedule-fields.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { scheduleRequestSchema, type SchedulePatch, type ScheduleRequest } from './schedule-request.ts';

const KEY = 'config:';

interface Configured {
  name: string;
  tenant: string;
  request: ScheduleRequest;
}

/**
 * Checks the configuration's schedules whole. Throws `config.invalid` with a line for each that cannot be made.
 */
export function assertSchedules(settings: Settings, now: number): void {
  const problems = Object.entries(settings.schedules).flatMap(([name, given]) => {
    const wrong = whatIsWrong(given, settings, now);
    return wrong === null ? [] : [`schedules.${name}: ${wrong}`];
  });
  if (problems.length > 0) throw invalidConfig(problems);
}

function whatIsWrong({ tenant: _tenant, ...given }: Settings['schedules'][string], settings: Settings, now: number): string | null {
  const parsed = scheduleRequestSchema.safeParse(given);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  try {
    const { phrase, cron, every, at } = parsed.data;
    // A time that passed since the configuration was written is no mistake.
    readRule({ phrase, cron, every, at }, { tz: readZone(parsed.data.tz), now, mayBePast: true });
    scheduleFields(parsed.data, settings.scheduler.maxCaughtUp);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Makes, changes and resumes schedules so that they are what the configuration says, each known by its name. One that is no longer in
 * it is paused; what people changed of one stays until its definition changes.
 */
export async function syncSchedules(parts: ScheduleParts): Promise<void> {
  const configured = Object.entries(parts.settings.schedules).map(([name, { tenant, ...given }]): Configured => {
    return { name, tenant: parts.tenants.find(tenant)?.id ?? tenant, request: scheduleRequestSchema.parse({ ...given, name }) };
  });
  for (const each of configured) await syncIsolated(parts, each);
  const tenants = new Set([...parts.tenants.list().map(({ id }) => id), ...configured.map(({ tenant }) => tenant)]);
  for (const tenant of tenants) await pauseRemoved(parts, tenant, configured);
}

/** One that cannot be made, because its agent or its time is gone, must not keep the others from being made. */
async function syncIsolated(parts: ScheduleParts, configured: Configured): Promise<void> {
  try {
    await sync(parts, configured);
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const { name, tenant } = configured;
    parts.log.warn({ event: 'schedule.not-made', err: error, name, tenant }, 'a schedule of the configuration could not be made');
  }
}

async function sync(parts: ScheduleParts, { name, tenant, request }: Configured): Promise<void> {
  const key = `${KEY}${name}`;
  const definition = JSON.stringify(request);
  const known = await parts.store.findByKey(tenant, key);
  if (!known) {
    await createSchedule(parts, request, { tenant, key, definition });
    return;
  }
  const isHeld = known.heldBy === 'config';
  if (known.definition !== definition) {
    await patchSchedule(parts, tenant, known.id, redefinition(known, request, await parts.now()));
    await changeSchedule(parts, tenant, known.id, { change: (schedule) => ({ ...schedule, definition }) });
    parts.log.info({ event: 'schedule.redefined', schedule: known.id, tenant, name }, 'a schedule follows its changed definition');
  } else if (isHeld) await releaseHeld(parts, known);
}

/** What a definition that says nothing of it has. */
const DEFAULTS = {
  context: null,
  priority: null,
  channel: null,
  platform: null,
  callbackUrl: null,
  missed: 'once',
  maxLateness: null,
  overlap: 'skip',
  jitter: null,
  exact: false,
  until: null,
  maxRuns: null,
} as const satisfies SchedulePatch;

/**
 * The change that makes a schedule what its definition says now. Times that it says already are left alone: to count them from now
 * would lose what was missed while no scheduler ran.
 */
function redefinition(known: Schedule, request: ScheduleRequest, now: number): SchedulePatch {
  const { idempotencyKey: _key, phrase, cron, every, at, tz, ...fields } = request;
  const { status, rule, runCount, heldBy } = known;
  const { maxRuns = null } = request;
  const isOver = status === 'completed' || status === 'failed';
  const goesOn = heldBy === 'config' || (isOver && rule.kind !== 'once' && (maxRuns === null || runCount < maxRuns));
  return {
    ...DEFAULTS,
    ...fields,
    ...(hasTimesOf(known, request, now) ? {} : { phrase, cron, every, at, tz: readZone(tz) }),
    ...(goesOn ? { status: 'active' } : {}),
  };
}

function hasTimesOf({ id, rule, ruleText, tz, definition }: Schedule, request: ScheduleRequest, now: number): boolean {
  // "tomorrow at 9" was another day then.
  if (rule.kind === 'once' && request.phrase !== undefined) {
    const before = scheduleRequestSchema.safeParse(JSON.parse(definition ?? 'null'));
    return before.success && before.data.phrase === request.phrase && before.data.tz === request.tz;
  }
  const { phrase, cron, every, at } = request;
  const zone = readZone(request.tz);
  return zone === tz && readRule({ phrase, cron, every, at }, { tz: zone, now, seed: id, mayBePast: true }).text === ruleText;
}

async function releaseHeld(parts: ScheduleParts, { tenant, id }: Schedule): Promise<void> {
  const now = await parts.now();
  await changeSchedule(parts, tenant, id, { change: (schedule) => resume(schedule, now, parts), event: 'resumed' });
}

async function pauseRemoved(parts: ScheduleParts, tenant: string, configured: readonly Configured[]): Promise<void> {
  const keys = (await parts.redis.hkeys(parts.keys.tenant(tenant).scheduleKeys)).filter((key) => key.startsWith(KEY));
  const wanted = new Set(configured.filter((each) => each.tenant === tenant).map(({ name }) => `${KEY}${name}`));
  for (const key of keys.filter((each) => !wanted.has(each))) {
    const schedule = await parts.store.findByKey(tenant, key);
    if (schedule?.status !== 'active') continue;
    const held = {
      status: 'paused',
      pausedReason: 'the configuration no longer has it',
      heldBy: 'config',
      nextFireAt: null,
      wakeAt: null,
    } as const;
    await changeSchedule(parts, tenant, schedule.id, { change: (current) => ({ ...current, ...held }), event: 'paused' });
    parts.log.info({ event: 'schedule.paused', schedule: schedule.id, tenant }, 'a schedule is no longer in the configuration');
  }
}
