import { z } from 'zod';
import { agentIdSchema } from '../agent-definitions.ts';
import { int, nameSchema } from '../fields.ts';

/** How schedules fire. */
export const schedulerSettingsSchema = z.strictObject({
  /** Between two ticks of the clock. What is due in between fires at its own time; a schedule that is written to be due first has the clock tick. */
  tickMs: int(60_000, 100),
  /** Between two looks of each process whether the clock ticks. */
  watchMs: int(1000, 50),
  /** A clock that should have ticked so long ago is silent: any process that notices restarts it. What is overdue by a second, or by this, any process fires. */
  silentMs: int(2000, 100),
  /** Between two comparisons of the records with the due times and the clock. */
  reconcileMs: int(300_000, 1000),
  /** Ends of runs that no scheduler followed for so long are followed by any worker, so that schedules know of them without one. */
  followEndedAfterMs: int(5000, 50),
  /** Schedules fired in one round; the next round follows at once. */
  batch: int(200),
  /** An occurrence that fires later than this was missed, and the schedule's `missed` says what becomes of it. */
  missedAfterMs: int(10_000, 100),
  /** Between two tries to fire when the task cannot be accepted now, unless a limit says longer. */
  retryMs: int(5000, 10),
  /** Missed schedules in one round from which on they are caught up over `catchUpSpreadMs` instead of at once. */
  catchUpThreshold: int(100, 0),
  catchUpSpreadMs: int(30_000, 0),
  /** Crons at minute 0 that are not `exact` fire up to this much later, each by its own share. 0: all at the full hour, as written. */
  topOfHourSpreadMs: int(60_000, 0),
  /** How far the next occurrence is pushed out while the tenant is disabled. */
  disabledTenantMs: int(3_600_000, 1000),
  /** How many times later a heartbeat fires next while its tenant or the fleet has much work (level `warning`); 1 is no later. */
  heartbeatStretch: z.number().min(1).max(100).default(2),
  /** Whether heartbeats are skipped while there is too much work (level `critical`). */
  skipHeartbeats: z.boolean().default(true),
  /** Occurrences that `missed: all` catches up when it does not say how many. */
  maxCaughtUp: int(100),
  /** Occurrences that one request may backfill. */
  maxBackfill: int(100),
  /** Runs of one schedule that wait for their turn under `overlap: queue`; one more is skipped. */
  maxQueuedRuns: int(10),
  /** Failed runs in a row after which a schedule is paused; 0 is never. */
  maxFailures: int(10, 0),
  /** What failed runs of a schedule may cost on one day of UTC, in millionths of a US dollar; then it is paused. 0 for no bound. */
  maxFailedMicroUsd: int(10_000_000, 0),
  /** How long a schedule that has ended can be read, with the key under which it was made. */
  endedRetentionMs: int(30 * 86_400_000, 1000),
  maxSchedulesPerTenant: int(200_000),
  /** Schedules that one page of a search checks, and for how long; `nextCursor` continues. */
  maxSearched: int(200_000),
  searchMs: int(150),
  /** About how many bytes of Redis's memory a tenant's schedules may take. */
  maxBytesPerTenant: int(536_870_912),
  /** Bytes of a schedule's message. */
  maxMessageBytes: int(65_536),
  /** `/schedule` lines in one output of an agent that are applied; 0 leaves them all as they are. */
  maxDirectivesPerRun: int(5, 0),
  /** Characters of a run's output that its record shows. */
  resultSummaryChars: int(500, 0),
});
export type SchedulerSettings = z.infer<typeof schedulerSettingsSchema>;

const text = z.string().min(1).max(200);

/**
 * A schedule that the configuration defines: what `POST /v1/schedules` takes, of which the rule and the durations are read when
 * the scheduler starts. One of `phrase`, `cron`, `every` and `at`.
 */
const configuredSchedule = z.strictObject({
  tenant: text.default('default'),
  phrase: text.optional(),
  cron: text.optional(),
  every: text.optional(),
  at: text.optional(),
  tz: text.optional(),
  agent: agentIdSchema,
  message: z.string().min(1),
  context: z.record(z.string(), z.json()).optional(),
  priority: z.union([z.number().int().min(1).max(10), z.enum(['low', 'normal', 'high', 'critical'])]).optional(),
  within: z.union([text, z.number()]).optional(),
  channel: text.optional(),
  platform: text.optional(),
  callbackUrl: z.string().optional(),
  missed: text.optional(),
  maxLateness: z.union([text, z.number()]).optional(),
  overlap: text.optional(),
  jitter: z.union([text, z.number()]).optional(),
  until: text.optional(),
  maxRuns: z.number().optional(),
  exact: z.boolean().optional(),
});

/** By name. A schedule taken out of the configuration is paused, not removed. */
export const configuredSchedulesSchema = z.record(nameSchema, configuredSchedule);
