import { z } from 'zod';
import { agentDefinitionSchema, agentIdSchema } from './agent-definitions.ts';
import { deliverySettingsSchema } from './delivery-settings.ts';
import { chatSettingsSchema } from './chat-settings.ts';
import { readNetwork } from './read-network.ts';
import { lanesSchema, routingSchema, sessionSettingsSchema } from './routing-settings.ts';
import { configuredSchedulesSchema, schedulerSettingsSchema } from './schedule-settings.ts';
import { taskSettingsSchema } from './task-settings.ts';
import { whole } from './whole.ts';

export const SOURCES = ['chat', 'api', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type Source = (typeof SOURCES)[number];

/** Queues that carry tasks; a task's `queue` is one of them. */
export const TASK_QUEUES = ['critical', 'chat', 'webhooks', 'schedules', 'tasks', 'background', 'remote'] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** Caps and rates are counted per class; `user` is chat and API together. */
export const SOURCE_CLASSES = ['user', 'proactive', 'webhook', 'schedule', 'delegation'] as const;
export type SourceClass = (typeof SOURCE_CLASSES)[number];

/** `burst` may come at once before the rate counts; by default a minute's worth. */
const rate = z.strictObject({ perMinute: whole(60), perHour: whole(1000), burst: z.number().int().min(1).optional() });
export type Rate = z.infer<typeof rate>;

/** Limits of a tenant; null is no limit. The figures suit a fleet that many tenants share. */
export const tenantLimitsSchema = z.strictObject({
  /** Tasks that hold a grant at once. */
  running: z.number().int().min(1).nullable().default(20),
  /** Tasks accepted but without a grant. */
  waiting: z.number().int().min(0).nullable().default(100),
  /** Grants at once per source class. */
  runningByClass: z.partialRecord(z.enum(SOURCE_CLASSES), z.number().int().min(1)).default({ proactive: 10, user: 15, webhook: 5 }),
  /** Grants at once for tasks of priority 1. */
  runningLow: z.number().int().min(1).nullable().default(5),
  /** Tasks accepted per source class, and in all. */
  rates: z.partialRecord(z.enum([...SOURCE_CLASSES, 'all']), rate).default({
    proactive: { perMinute: 50, perHour: 500, burst: 100 },
    user: { perMinute: 60, perHour: 1000, burst: 60 },
    webhook: { perMinute: 100, perHour: 2000, burst: 100 },
    all: { perMinute: 500, perHour: 10_000, burst: 500 },
  }),
});
export type TenantLimits = z.infer<typeof tenantLimitsSchema>;

/** A source's policy. What it leaves out it has from its own defaults, so that changing one figure changes no other. */
const retryPolicy = (retryDelayMs: number) =>
  z
    .strictObject({
      maxAttempts: whole(3),
      retryDelayMs: whole(retryDelayMs, 0),
      retryBackoff: z.enum(['exponential', 'linear']).default('exponential'),
      /** Whether a task that waits for its retry keeps its place in its lane, or lets the next one go first. */
      lane: z.enum(['hold', 'yield']).default('hold'),
      /** The lane of this source's tasks that have no session, from `lanes`. */
      sharedLane: z.string().optional(),
    })
    .prefault({});

const inSeconds = retryPolicy(2000);
const inMinutes = retryPolicy(60_000);

const queueSettings = z.strictObject({
  /** Slots a worker gives this queue. */
  slots: z.number().int().min(0).max(1000),
  /** At most `max` tickets started per `durationMs`, over the whole fleet. */
  limiter: z.strictObject({ max: z.number().int().min(1), durationMs: z.number().int().min(1) }).optional(),
});

/** Everything `muster.config.ts` may say. Each bound carries its unit in its name. */
export const settingsSchema = z.strictObject({
  agents: z.record(agentIdSchema, agentDefinitionSchema).default({}),
  routing: routingSchema.prefault({}),
  /** Named lanes, for agents (`lane`) and sources (`retries.<source>.sharedLane`) to share. */
  lanes: lanesSchema.default({}),
  sessions: sessionSettingsSchema.prefault({}),
  /** Schedules that are there from the start, by name. */
  schedules: configuredSchedulesSchema.default({}),
  scheduler: schedulerSettingsSchema.prefault({}),
  deliveries: deliverySettingsSchema.prefault({}),
  limits: z
    .strictObject({
      /** Attempts running at once in the whole fleet; `MUSTER_MAX_CONCURRENT` wins. */
      maxConcurrent: whole(1000),
      /** What a tenant has unless said otherwise. */
      tenant: tenantLimitsSchema.prefault({}),
      /** Per tenant, instead of `tenant`. The tenant `default` has no limits unless it is named here. */
      tenants: z.record(z.string(), tenantLimitsSchema).default({}),
      /** Tenants of the fleet, and what each may keep: API keys, and agents made by API. */
      maxTenants: whole(10_000),
      maxKeysPerTenant: whole(1000),
      maxAgentsPerTenant: whole(1000),
      /** A tenant's tasks that have not ended, from which on producers are told to slow down, and to stop. */
      backpressure: z.strictObject({ warningDepth: whole(5000), criticalDepth: whole(50_000) }).prefault({}),
      /** HTTP requests per key and minute, and per address for calls without a key. */
      httpPerMinute: whole(6000),
      httpAnonymousPerMinute: whole(600),
      /** HTTP requests per visitor's token and minute. */
      httpVisitorPerMinute: whole(300),
      /** Failed sign-ins per address and minute. */
      signInPerMinute: whole(10),
    })
    .prefault({}),
  queues: z.partialRecord(z.enum([...TASK_QUEUES, 'deliveries', 'maintenance']), queueSettings).default({}),
  retries: z
    .strictObject({
      chat: inSeconds,
      api: inSeconds,
      proactive: inSeconds,
      delegation: inSeconds,
      webhook: inMinutes,
      schedule: inMinutes,
      /** No backoff is longer than this, whoever asks. */
      maxDelayMs: whole(600_000),
      /** No provider's "later" is believed for longer than this. */
      maxThrottleMs: whole(3_600_000),
      /** Interrupted attempts, which cost nothing, before a further throttling counts as a failure. */
      maxInterruptions: whole(100),
      /** After a timeout the next attempt may take this many times as long. */
      timeoutGrowth: z.number().min(1).max(10).default(1.5),
    })
    .prefault({}),
  tasks: taskSettingsSchema.prefault({}),
  events: z
    .strictObject({
      /** Entries of a tenant's event stream. */
      maxPerTenant: whole(10_000),
      /** Between two comments on a stream of notifications. */
      commentMs: whole(30_000, 10),
      /** Between two looks of a stream of notifications, should nobody say that there is something new. */
      lookMs: whole(2000, 10),
    })
    .prefault({}),
  worker: z
    .strictObject({
      /** How long an attempt is held without a renewal. Two missed renewals (every half of it) make an orphan. */
      leaseMs: whole(10_000, 500),
      /** Between an abort and taking the lease away. */
      cancelGraceMs: whole(5000, 0),
      /** Between two looks for orphans. */
      reconcileMs: whole(1000, 100),
      /** Age of an outbox entry before somebody else adds its ticket. */
      outboxSweepMs: whole(3000, 100),
      /** Granted tasks that waited this long have their ticket looked up, and a new one made when it is gone. */
      ticketAuditMs: whole(30_000, 1000),
      /** How long a ticket waits for room in the fleet before it asks again. */
      fleetFullMs: whole(500, 10),
      /** Ended tickets kept per queue, for Bull Board. */
      keepCompletedTickets: whole(1000, 0),
      keepFailedTickets: whole(5000, 0),
    })
    .prefault({}),
  http: z
    .strictObject({
      maxBodyBytes: whole(1_048_576),
      /** Items of one bulk request. */
      maxBulk: whole(1000),
      /** Longest `waitMs`. */
      maxWaitMs: whole(60_000),
      /** Open event streams of one process. */
      maxStreams: whole(1000),
      /** How long the reader of an event stream may leave what was written unread. */
      slowReaderMs: whole(30_000, 10),
      /** Between two looks of an open event stream whether its key, its sign-in or its tenant is still what opened it. */
      streamCheckMs: whole(5000, 100),
      /** How long a browser stays signed in, whatever happens in it. */
      signInMs: whole(12 * 3_600_000, 60_000),
    })
    .prefault({}),
  webhooks: z
    .strictObject({
      /** GitHub sends up to 25 MB. */
      maxBodyBytes: whole(26_214_400),
      maxHooksPerTenant: whole(1000),
    })
    .prefault({}),
  chat: chatSettingsSchema.prefault({}),
  outbound: z
    .strictObject({
      /** Networks that `http` agents and callbacks may reach although they are not public, as CIDR. */
      allowNetworks: z
        .array(z.string().refine((text) => readNetwork(text) !== null, 'expected a network such as 10.0.0.0/8, or an address'))
        .default([]),
      /** Bytes of an `http` agent's answer, and of one event of a model's. */
      maxResponseBytes: whole(4_194_304),
    })
    .prefault({}),
});

export type Settings = z.infer<typeof settingsSchema>;
export type SettingsInput = z.input<typeof settingsSchema>;
