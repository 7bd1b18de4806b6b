import { z } from 'zod';
import { agentDefinitionSchema, agentIdSchema } from './agent-definitions.ts';
import { commandSettingsSchema } from './command-settings.ts';
import { consumerSettingsSchema } from './consumer-settings.ts';
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
  /** About how many bytes of Redis's memory its tasks, schedules, agents and hooks may take, as measured every few seconds. */
  storedBytes: z.number().int().min(1).nullable().default(1_073_741_824),
  /** Longest run of one attempt that its tasks and its own agents may ask for, in milliseconds; `tasks.maxTimeoutMs` holds besides. */
  maxTimeoutMs: z.number().int().min(1).nullable().default(3_600_000),
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

/** A change of some of them: what is not named stays, and null takes a class's own figure away. */
export const tenantLimitsPatchSchema = z.strictObject({
  storedBytes: z.number().int().min(1).nullable().optional(),
  maxTimeoutMs: z.number().int().min(1).nullable().optional(),
  running: z.number().int().min(1).nullable().optional(),
  waiting: z.number().int().min(0).nullable().optional(),
  runningByClass: z.partialRecord(z.enum(SOURCE_CLASSES), z.number().int().min(1).nullable()).optional(),
  runningLow: z.number().int().min(1).nullable().optional(),
  rates: z.partialRecord(z.enum([...SOURCE_CLASSES, 'all']), rate.nullable()).optional(),
});
export type TenantLimitsPatch = z.infer<typeof tenantLimitsPatchSchema>;

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
  commands: commandSettingsSchema.prefault({}),
  routing: routingSchema.prefault({}),
  /** Named lanes, for agents (`lane`) and sources (`retries.<source>.sharedLane`) to share. */
  lanes: lanesSchema.default({}),
  sessions: sessionSettingsSchema.prefault({}),
  /** Schedules that are there from the start, by name. */
  schedules: configuredSchedulesSchema.default({}),
  consumers: consumerSettingsSchema.prefault({}),
  scheduler: schedulerSettingsSchema.prefault({}),
  deliveries: deliverySettingsSchema.prefault({}),
  limits: z
    .strictObject({
      /** Attempts running at once in the whole fleet; `MUSTER_MAX_CONCURRENT` wins. */
      maxConcurrent: whole(1000),
      /** The share of `maxConcurrent` that is kept for critical work, at least one, while a worker serves it; 0 keeps nothing. */
      criticalShare: z.number().min(0).max(0.9).default(0.2),
      /** What a tenant has unless said otherwise. */
      tenant: tenantLimitsSchema.prefault({}),
      /** Per tenant, instead of `tenant`. The tenant `default` has no limits unless it is named here. */
      tenants: z.record(z.string(), tenantLimitsSchema).default({}),
      /** Tenants of the fleet, and what each may keep: API keys, and agents made by API. */
      maxTenants: whole(10_000),
      maxKeysPerTenant: whole(1000),
      maxAgentsPerTenant: whole(1000),
      /** Whether `openai` agents made by API may use `OPENAI_API_KEY`, which the installation pays for. They may always bring an `apiKey`. */
      fleetKeyForApiAgents: z.boolean().default(false),
      /** About how many bytes of Redis's memory these agents take, which are listed in one answer. */
      maxAgentBytesPerTenant: whole(8_388_608),
      /** A tenant's tasks that have not ended, from which on producers are told to slow down, and to stop. */
      backpressure: z.strictObject({ warningDepth: whole(5000), criticalDepth: whole(50_000) }).prefault({}),
      /** Processes that one task may take down with it before it fails with WORKER_LOST, whatever attempts it has left. Defaults to 3. */
      maxWorkerLosses: whole(3),
      /** HTTP requests per key and minute, and per address for calls without a key and for webhooks that are refused. */
      httpPerMinute: whole(6000),
      httpAnonymousPerMinute: whole(600),
      /** HTTP requests per visitor's token and minute. */
      httpVisitorPerMinute: whole(300),
      /** Failed sign-ins per minute, of one address and with one key. */
      signInPerMinute: whole(10),
    })
    .prefault({}),
  tenants: z
    .strictObject({
      /** Between two looks for what deleted tenants left. */
      cleanMs: whole(5000, 100),
      /** How long after its end a tenant's keys are looked for again: a call that was under way may have written. */
      settleMs: whole(60_000),
      /** How long the end of a tenant is remembered; until then its id is refused wherever it comes from. */
      endedRetentionMs: whole(30 * 86_400_000),
    })
    .prefault({}),
  queues: z.partialRecord(z.enum([...TASK_QUEUES, 'deliveries', 'replies', 'maintenance']), queueSettings).default({}),
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
      /** Between two looks for orphans: attempts whose lease ran out. Defaults to 1 s. */
      orphanCheckIntervalMs: whole(1000, 100),
      /** Between two heartbeats of a worker. Defaults to 10 s. */
      heartbeatIntervalMs: whole(10_000, 100),
      /** Heartbeats that a worker misses before it is told as lost. Defaults to 2. */
      deadHeartbeatThreshold: whole(2),
      /** Age of an outbox entry before somebody else adds its ticket. */
      outboxSweepMs: whole(3000, 100),
      /** Granted tasks that waited this long have their ticket looked up, and a new one made when it is gone. */
      ticketAuditMs: whole(30_000, 1000),
      /** From so long a block of its event loop on a worker's thread writes down which task it is. Defaults to 3 s. */
      blockedMs: whole(3000, 500),
      /** After so long a block the worker's process is ended, which its supervisor starts again; null is never. Defaults to a minute. */
      maxBlockedMs: z.number().int().min(1000).nullable().default(60_000),
      /** Before a task that was lost with its process comes back; twice as long after each further loss. Defaults to 1 s. */
      suspectDelayMs: whole(1000, 10),
      /** Processes of one worker in which suspects run until they have survived `probationMs`. Defaults to 4. */
      isolatedProcesses: whole(4),
      /** Suspects that share such a process after their first loss; from the second on each has its own. Defaults to 16. */
      suspectsPerProcess: whole(16),
      /** A suspect that ran for so long no longer counts against `isolatedProcesses`. Defaults to 10 s. */
      probationMs: whole(10_000, 100),
      /** Megabytes of heap of a process for suspects; by default what Node gives any process. */
      isolatedHeapMb: z.number().int().min(32).optional(),
      /** Longest time between two looks for tasks whose time has come; known times are met exactly. Defaults to 500 ms. */
      duePollMs: whole(500, 10),
      /** Between two looks of a worker that waits for room in the fleet, should nobody say that there is some. */
      fleetFullMs: whole(500, 10),
      /** Ended tickets kept per queue, for Bull Board. */
      keepCompletedTickets: whole(1000, 0),
      keepFailedTickets: whole(5000, 0),
    })
    .prefault({}),
  http: z
    .strictObject({
      maxBodyBytes: whole(1_048_576),
      /** Objects and lists in each other, in a JSON body of the API or of a chat platform. */
      maxBodyDepth: whole(128),
      /** Members and elements in all of such a body; a bulk request may have as many times more as it may have bytes. */
      maxBodyValues: whole(20_000),
      /** Bytes of what callers wrote, from which on a page of a list ends early. */
      maxListBytes: whole(4_194_304),
      /** Items of one bulk request. */
      maxBulk: whole(1000),
      /** Longest `waitMs`. */
      maxWaitMs: whole(60_000),
      /** Open event streams of one process. */
      maxStreams: whole(1000),
      /** Of these, one tenant's, one key's, and one visitor's token's. */
      maxStreamsPerTenant: whole(800),
      maxStreamsPerKey: whole(400),
      maxStreamsPerVisitor: whole(10),
      /** Bytes of request bodies that one process holds at once, in all and of one address; an IPv6 network of 64 bits counts as one. */
      maxOpenBodyBytes: whole(268_435_456),
      maxOpenBodyBytesPerAddress: whole(67_108_864),
      /** How long a body may come without a byte. */
      bodyIdleMs: whole(10_000, 10),
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
      /** Objects and lists in each other, and members and elements in all of one body. */
      maxBodyDepth: whole(128),
      maxBodyValues: whole(250_000),
      templates: z
        .strictObject({
          /** Tags of one template, and sections in each other. */
          maxTags: whole(500),
          maxDepth: whole(20),
          /** Tags, elements of lists and names looked up, before the rest of a template is left out. */
          maxSteps: whole(100_000),
        })
        .prefault({}),
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
