import { z } from 'zod';
import { MAX_KEPT_MS, MAX_TIMER_MS } from './durations.ts';
import { int, nameSchema } from '../fields.ts';
import { SOURCE_CLASSES } from '../sources.ts';
import { configuredFleetLimitsSchema } from './fleet-limits.ts';
import { rateSchema } from './rates.ts';

/** Limits of a tenant; null is no limit. The figures suit a fleet that many tenants share. */
export const tenantLimitsSchema = z
  .strictObject({
    /** About how many bytes of Redis's memory its tasks, schedules, agents and hooks may take, as measured every few seconds. */
    storedBytes: z.number().int().min(1).nullable().default(1_073_741_824),
    /** Longest run of one attempt that its tasks and its own agents may ask for, in milliseconds; `tasks.maxTimeoutMs` holds besides. */
    maxTimeoutMs: z.number().int().min(1).max(MAX_TIMER_MS).nullable().default(3_600_000),
    /** How long its tasks are kept after their end, in milliseconds, where that is shorter than `tasks.retentionMs`; null for no time of its own. */
    retentionMs: z.number().int().min(1000).max(MAX_KEPT_MS).nullable().default(null),
    /** Grants at once: tasks that run, and tasks whose ticket waits for a worker. */
    running: z.number().int().min(1).nullable().default(20),
    /** Tasks accepted but without a grant. */
    waiting: z.number().int().min(0).nullable().default(100),
    /** Grants at once per source class. */
    runningByClass: z.partialRecord(z.enum(SOURCE_CLASSES), z.number().int().min(1)).default({ proactive: 10, user: 15, webhook: 5 }),
    /** Grants at once for tasks of priority 1. */
    runningLow: z.number().int().min(1).nullable().default(5),
    /** Its share of the slots while tenants take turns, relative to the others: 2 gets twice as much as 1. */
    weight: z.number().min(0.01).max(1000).default(1),
    /** Grants at once per agent, instead of the agent's own `maxRunning`; holds for what waits and runs already too. */
    runningByAgent: z.record(nameSchema, z.number().int().min(1)).default({}),
    /** Tasks accepted per source class, and in all. */
    rates: z.partialRecord(z.enum([...SOURCE_CLASSES, 'all']), rateSchema).default({
      proactive: { perMinute: 50, perHour: 500, burst: 100 },
      user: { perMinute: 60, perHour: 1000, burst: 60 },
      webhook: { perMinute: 100, perHour: 2000, burst: 100 },
      all: { perMinute: 500, perHour: 10_000, burst: 500 },
    }),
  })
  .meta({ id: 'TenantLimits' });
export type TenantLimits = z.infer<typeof tenantLimitsSchema>;

/** A change of some of them: what is not named stays, and null takes a class's own figure away. */
export const tenantLimitsPatchSchema = z
  .strictObject({
    storedBytes: z.number().int().min(1).nullable().optional(),
    maxTimeoutMs: z.number().int().min(1).max(MAX_TIMER_MS).nullable().optional(),
    retentionMs: z.number().int().min(1000).max(MAX_KEPT_MS).nullable().optional(),
    running: z.number().int().min(1).nullable().optional(),
    waiting: z.number().int().min(0).nullable().optional(),
    runningByClass: z.partialRecord(z.enum(SOURCE_CLASSES), z.number().int().min(1).nullable()).optional(),
    runningLow: z.number().int().min(1).nullable().optional(),
    weight: z.number().min(0.01).max(1000).optional(),
    runningByAgent: z.record(nameSchema, z.number().int().min(1).nullable()).optional(),
    rates: z.partialRecord(z.enum([...SOURCE_CLASSES, 'all']), rateSchema.nullable()).optional(),
  })
  .meta({ id: 'TenantLimitsPatch' });
export type TenantLimitsPatch = z.infer<typeof tenantLimitsPatchSchema>;

/** When there is too much work, and what is done about it. A wait of null never counts. */
const backpressureSchema = z
  .strictObject({
    /** A tenant's tasks that have not ended, from which on answers ask producers to slow down, and to stop. */
    warningDepth: int(5000),
    criticalDepth: int(50_000),
    /** The same by the estimated wait of a tenant's next task, in milliseconds. */
    warningWaitMs: z.number().int().min(1).nullable().default(300_000),
    criticalWaitMs: z.number().int().min(1).nullable().default(3_600_000),
    /** A level ends below this share of the depth and the wait at which it begins. */
    recoverAt: z.number().min(0.1).max(1).default(0.9),
    /** How many times slower proactive producers should send under a warning. */
    slowDown: z.number().min(1).max(100).default(2),
    /** Whether proactive tasks and those of low priority are refused while the level is critical. */
    shed: z.boolean().default(true),
    /** Between two events that count refused tasks. */
    shedEventMs: int(10_000),
    /**
     * Depth and wait of the whole fleet, and the share of its `maxmemory` that a Redis uses. From `criticalMemory` on new work is refused, so that
     * what was accepted has room to end.
     */
    fleet: z
      .strictObject({
        warningDepth: int(50_000),
        criticalDepth: int(500_000),
        warningWaitMs: z.number().int().min(1).nullable().default(300_000),
        criticalWaitMs: z.number().int().min(1).nullable().default(3_600_000),
        warningMemory: z.number().min(0.1).max(1).nullable().default(0.8),
        criticalMemory: z.number().min(0.1).max(1).nullable().default(0.95),
      })
      .prefault({}),
  })
  .prefault({});
type Backpressure = z.infer<typeof backpressureSchema>;
export type Thresholds = Pick<Backpressure, 'warningDepth' | 'criticalDepth' | 'warningWaitMs' | 'criticalWaitMs'> &
  Partial<Pick<Backpressure['fleet'], 'warningMemory' | 'criticalMemory'>>;

/** When a critical task at its tenant's caps gets the place of a low one. */
const preemptionSchema = z
  .strictObject({
    enabled: z.boolean().default(true),
    /** Attempts of one task that are cut short for it; then the task keeps its place. */
    maxPerTask: int(3),
    /** Tasks of one kind that are read to find one that makes room, the newest of a class or the holders of a lane. */
    maxRead: int(200),
  })
  .prefault({});

/** What the fleet and each tenant may use. */
export const limitsSchema = z
  .strictObject({
    /** Attempts running at once in the fleet; `MUSTER_MAX_CONCURRENT` wins. */
    maxConcurrent: int(1000),
    /** The share of `maxConcurrent` that is kept for critical work, at least one, while a worker serves it; 0 keeps nothing. */
    criticalShare: z.number().min(0).max(0.9).default(0.2),
    /** What all tenants together may run and send; changed live by API. */
    fleet: configuredFleetLimitsSchema,
    /** What a tenant has unless said otherwise. */
    tenant: tenantLimitsSchema.prefault({}),
    /** Per tenant, instead of `tenant`. The tenant `default` has no limits unless it is named here. */
    tenants: z.record(z.string(), tenantLimitsSchema).default({}),
    /** Tasks that a preview of limits reads at most, the newest of the last day. */
    maxPreviewed: int(10_000),
    /** Suspended runs of one tenant; one more fails its attempt with TOO_MANY_SUSPENDED, which is tried again. */
    suspended: int(10_000),
    /** Tenants of the fleet, and what each may keep: API keys, and agents made by API. */
    maxTenants: int(10_000),
    maxKeysPerTenant: int(1000),
    maxAgentsPerTenant: int(1000),
    /** Budgets of its own that a tenant may have. */
    maxBudgetsPerTenant: int(100),
    /** How long what was spent under a budget without windows is kept after the last use. */
    keepSpentMs: int(400 * 86_400_000, 86_400_000),
    /** Whether `openai` agents made by API may use `OPENAI_API_KEY`, which the installation pays for. They may always bring an `apiKey`. */
    fleetKeyForApiAgents: z.boolean().default(false),
    /** About how many bytes of Redis's memory these agents take, which are listed in one answer. */
    maxAgentBytesPerTenant: int(8_388_608),
    backpressure: backpressureSchema,
    preemption: preemptionSchema,
    /** Processes that one task may take down with it before it fails with WORKER_LOST, whatever attempts it has left. Defaults to 3. */
    maxWorkerLosses: int(3),
    /** Attempts of one task that may be lost with their daemon before such a loss costs an attempt. Defaults to 3. */
    maxDaemonLosses: int(3, 0),
    /** HTTP requests per key and minute, and per address for calls without a key and for webhooks that are refused. */
    httpPerMinute: int(6000),
    httpAnonymousPerMinute: int(600),
    /** HTTP requests per visitor's token and minute. */
    httpVisitorPerMinute: int(300),
    /** Failed sign-ins of one address per minute. */
    signInPerMinute: int(10),
    /** Sign-ins and sign-in links with one key, or of one person, per minute: each is an entry of the audit log and a record in Redis. */
    signInsOfKeyPerMinute: int(60),
  })
  .prefault({});

/** How granted tasks get their tickets. */
export const dispatchSettingsSchema = z
  .strictObject({
    /** Tasks of a queue and shard that are jobs in BullMQ at most beyond the slots that are idle; the others wait in the ledger. Defaults to 16. */
    lookAhead: int(16),
    /**
     * A task with an `sla` stands among those of its tenant and priority as if it had been accepted so long before it, so that no other
     * waits behind later ones for longer; 0 orders by age only. Defaults to a day.
     */
    slaLeadMs: int(86_400_000, 0),
  })
  .prefault({});

/** How the end of a tenant is applied. */
export const tenantSettingsSchema = z
  .strictObject({
    /** Between two searches for what deleted tenants left. */
    cleanMs: int(15_000, 100),
    /** How long after its end a tenant's keys are searched for again: a call that was under way may have written. */
    settleMs: int(60_000),
    /** How long the end of a tenant is remembered at least, and longer where people are (`signIn.peopleRetentionMs`); until then its id is refused wherever it comes from. */
    endedRetentionMs: int(30 * 86_400_000),
  })
  .prefault({});
