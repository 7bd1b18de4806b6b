import { invalidConfig, type Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { readRule } from '../rules/read-rule.ts';
import { readZone } from '../rules/wall-time.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { haltSchedule, type Schedule } from '../store/schedule.ts';
import { changeSchedule } from './change-schedule.ts';
import type { ConfigurationAudit } from './configuration-audit.ts';
import { createSchedule } from './create-schedule.ts';
import { assertWithin } from '../../queue/index.ts';
import { updateSchedule, resumeSchedule } from './update-schedule.ts';
import { scheduleFields, type SchedulePatch, type ScheduleRequest, scheduleRequestSchema } from './schedule-request.ts';

/** Checks all schedules of the configuration. Throws `config.invalid` with a line for each invalid one. */
export function assertSchedules(settings: Settings, now: number): void {
  const problems = Object.entries(settings.schedules).flatMap(([name, { tenant: _tenant, ...given }]) => {
    const problem = problemOf(given, settings, now);
    return problem === null ? [] : [`schedules.${name}: ${problem}`];
  });
  if (problems.length > 0) throw invalidConfig(problems);
}

function problemOf(given: object, settings: Settings, now: number): string | null {
  const parsed = scheduleRequestSchema.safeParse(given);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  try {
    const { phrase, cron, every, at, tz } = parsed.data;
    // A time may have passed since the configuration was written.
    readRule({ phrase, cron, every, at }, { tz: readZone(tz), now, mayBePast: true });
    scheduleFields(parsed.data, settings.scheduler.maxCaughtUp);
    assertWithin(parsed.data.within, settings.modelBatches);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Configured {
  tenant: string;
  /** The key under which it is created once. */
  key: string;
  request: ScheduleRequest;
}

const KEY_PREFIX = 'config:';

/**
 * Creates, changes and resumes schedules as the configuration defines them, each known by its name. Removed definitions pause their
 * schedules. What people changed stays until the definition changes. What it does is in the audit log.
 */
export async function syncSchedules(parts: ScheduleParts, audit: ConfigurationAudit): Promise<void> {
  const configured = Object.entries(parts.settings.schedules).map(([name, { tenant, ...given }]): Configured => {
    const request = scheduleRequestSchema.parse({ ...given, name });
    return { tenant: parts.tenants.find(tenant)?.id ?? tenant, key: `${KEY_PREFIX}${name}`, request };
  });
  for (const each of configured) await syncIsolated(parts, audit, each);
  const tenants = new Set([...parts.tenants.list().map(({ id }) => id), ...configured.map(({ tenant }) => tenant)]);
  for (const tenant of tenants) await pauseRemoved(parts, audit, { tenant, configured });
}

/** A schedule that cannot be created, because its agent is missing or its time is past, stops no others. */
async function syncIsolated(parts: ScheduleParts, audit: ConfigurationAudit, configured: Configured): Promise<void> {
  try {
    const synced = await syncSchedule(parts, configured);
    if (synced !== null) await audit.recordSchedule(synced.action, { tenant: configured.tenant, id: synced.id });
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const { tenant, request } = configured;
    const fields = { event: 'schedule.not-created', err: error, name: request.name, tenant };
    parts.log.warn(fields, 'a schedule of the configuration could not be created');
  }
}

interface SyncedSchedule {
  id: string;
  /** Its name in the audit log. */
  action: 'createSchedule' | 'changeSchedule' | 'resumeSchedule';
}

/** Returns what was done; null for nothing. */
async function syncSchedule(parts: ScheduleParts, { tenant, key, request }: Configured): Promise<SyncedSchedule | null> {
  const definition = JSON.stringify(request);
  const known = await parts.store.findByKey(tenant, key);
  if (!known) {
    const { schedule, isNew } = await createSchedule(parts, request, { tenant, key, definition });
    return isNew ? { id: schedule.id, action: 'createSchedule' } : null;
  }
  const now = await parts.now();
  if (known.definition !== definition) {
    await updateSchedule(parts, tenant, known.id, redefinition(known, request, now));
    await changeSchedule(parts, tenant, known.id, { change: (schedule) => ({ ...schedule, definition }) });
    const fields = { event: 'schedule.redefined', schedule: known.id, tenant, name: request.name };
    parts.log.info(fields, 'a schedule follows its changed definition');
    return { id: known.id, action: 'changeSchedule' };
  }
  // Its definition was removed and is back.
  const release = (schedule: Schedule): Schedule => resumeSchedule(schedule, now, parts);
  if (known.heldBy !== 'config') return null;
  await changeSchedule(parts, tenant, known.id, { change: release, event: 'resumed' });
  return { id: known.id, action: 'resumeSchedule' };
}

/** The values of fields that a definition leaves out: `FIELD_DEFAULTS` as a patch. */
const DEFAULTS = {
  context: null,
  priority: null,
  within: null,
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
 * The change that makes a schedule follow its definition. An unchanged rule is left out, because counting from now would lose what
 * was missed while no scheduler ran.
 */
function redefinition(known: Schedule, request: ScheduleRequest, now: number): SchedulePatch {
  const { idempotencyKey: _key, phrase, cron, every, at, tz, ...fields } = request;
  const { status, rule, runCount, heldBy } = known;
  const { maxRuns = null } = request;
  const hasEnded = status === 'completed' || status === 'failed';
  const isResumed = heldBy === 'config' || (hasEnded && rule.kind !== 'once' && (maxRuns === null || runCount < maxRuns));
  return {
    ...DEFAULTS,
    ...fields,
    ...(hasRuleOf(known, request, now) ? {} : { phrase, cron, every, at, tz: readZone(tz) }),
    ...(isResumed ? { status: 'active' } : {}),
  };
}

function hasRuleOf({ id, rule, ruleText, tz, definition }: Schedule, request: ScheduleRequest, now: number): boolean {
  // "tomorrow at 9" meant another day when it was defined.
  if (rule.kind === 'once' && request.phrase !== undefined) {
    const before = scheduleRequestSchema.safeParse(JSON.parse(definition ?? 'null'));
    return before.success && before.data.phrase === request.phrase && before.data.tz === request.tz;
  }
  const { phrase, cron, every, at } = request;
  const zone = readZone(request.tz);
  return zone === tz && readRule({ phrase, cron, every, at }, { tz: zone, now, seed: id, mayBePast: true }).text === ruleText;
}

async function pauseRemoved(
  parts: ScheduleParts,
  audit: ConfigurationAudit,
  { tenant, configured }: { tenant: string; configured: readonly Configured[] },
): Promise<void> {
  const keys = (await parts.redis.hkeys(parts.keys.tenant(tenant).scheduleKeys)).filter((key) => key.startsWith(KEY_PREFIX));
  const defined = new Set(configured.filter((each) => each.tenant === tenant).map(({ key }) => key));
  for (const key of keys.filter((each) => !defined.has(each))) {
    const schedule = await parts.store.findByKey(tenant, key);
    if (schedule?.status !== 'active') continue;
    await changeSchedule(parts, tenant, schedule.id, { change: holdForConfig, event: 'paused' });
    parts.log.info({ event: 'schedule.paused', schedule: schedule.id, tenant }, 'a schedule is no longer in the configuration');
    await audit.recordSchedule('pauseSchedule', schedule);
  }
}

function holdForConfig(schedule: Schedule): Schedule {
  return { ...haltSchedule(schedule, 'paused', 'the configuration no longer has it'), heldBy: 'config' };
}
