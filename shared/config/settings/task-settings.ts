import { z } from 'zod';
import { int, zoneSchema } from '../fields.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What a run keeps of its steps. */
export const journalSettingsSchema = z.strictObject({
  /** Entries of one run; one more fails it with JOURNAL_FULL. */
  maxEntries: int(1000),
  /** Bytes of JSON that Redis has of what one step gave, and bytes of a checkpoint; what a step gave beyond is in a [file](files.md) of its task. */
  maxEntryBytes: int(65_536),
  /** Bytes of JSON that a [step](agents.md#steps) may give; more fails it with STEP_TOO_LARGE. */
  maxValueBytes: int(8_388_608),
  /** Whether anybody is shown what steps gave and were given. It is kept all the same. */
  bodies: z.boolean().default(true),
});

/** What runs ask people. */
export const questionSettingsSchema = z.strictObject({
  /** How long a question is open, when its agent does not say, and at most, ms. */
  maxWaitMs: int(7 * DAY),
  /** How long after it was asked an open question is asked again in its chat and notified, ms: once for each time; `[]` for never. */
  remindMs: z
    .array(z.number().int().min(1))
    .max(10)
    .default([4 * HOUR, DAY, 3 * DAY]),
  /** When all that are open are notified, each day by the clock of `digestTz`; null for never. */
  digestAt: z
    .string()
    .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'expected a time of the day such as "09:00"')
    .nullable()
    .default('09:00'),
  digestTz: zoneSchema.default('UTC'),
});

/** What a task may take, and how long it is kept. */
export const taskSettingsSchema = z.strictObject({
  /** Time an attempt may take when neither the task nor its agent says. */
  timeoutMs: int(300_000),
  /** Longest that a task, or an agent made by API, may ask for. Agents of the configuration may say more. */
  maxTimeoutMs: int(14_400_000),
  /** Whether a task that runs at its deadline is aborted, unless the task or its agent says. */
  deadlineAborts: z.boolean().default(false),
  maxInputBytes: int(262_144),
  /** Bytes of `context` and `metadata` together. */
  maxContextBytes: int(65_536),
  /** Bytes of an attempt's output, and of its result as JSON; more fails it with OUTPUT_TOO_LARGE. */
  maxOutputBytes: int(1_048_576),
  /** How long an ended task can be read. */
  retentionMs: int(7 * 86_400_000),
  /** Between two searches for tasks whose time is over. */
  trimMs: int(30_000, 100),
  /** Ended tasks of one tenant that are kept, at about 1.4 kB of Redis's memory each besides what they say; the first accepted go. */
  maxEnded: int(1_000_000),
  /** How long a running task's output stream is kept after its last write. */
  outputRetentionMs: int(3_600_000),
  /** Entries of one task's output stream. */
  maxOutputEntries: int(20_000),
  /** Entries of one task's log: what its agent reports by `context.log` and `context.progress`. One attempt writes so many at most. */
  maxLogEntries: int(500),
  /** Characters of one entry's text, and of its fields as JSON. */
  maxLogEntryCharacters: int(2000),
  /** How long a task's log is kept after its last entry. */
  logRetentionMs: int(86_400_000),
  /** Characters of the stack that a failed attempt is recorded with. */
  maxStackCharacters: int(4096, 0),
  /** How long an idempotency key is remembered. */
  idempotencyMs: int(86_400_000),
  /** Bytes of one task's timeline; the oldest entries go first. */
  maxTimelineBytes: int(16_384, 2048),
});

/** How far one search for tasks goes. */
export const searchSettingsSchema = z.strictObject({
  /** Tasks that one page of tasks, or a count of facets, checks at most. A page says how far it came, and the next one goes on. */
  maxScanned: int(20_000, 100),
  /** Time after which one page of tasks, or a count of facets, checks no more of them. Each page checks some. */
  maxMs: int(75, 0),
  /** Tasks whose texts one page reads at most, of those that may match. */
  maxRead: int(2000, 100),
  /** Kinds of ended tasks (by status, agent, source and code) that are counted apart; with more, facets are lower bounds. */
  maxGroups: int(2000, 1),
  /** Values of one facet; the rarer ones are left out. */
  maxValues: int(50),
  /** Between two checks whether the index has every ended task, as an older release left it. */
  indexMs: int(10_000, 100),
  /** How long a tenant whose index was complete is not checked again. */
  recheckMs: int(600_000, 0),
});

/** Failed tasks in groups, and actions upon many tasks. */
export const actionSettingsSchema = z.strictObject({
  /** Tasks that one page of failures, or the count of an action's tasks at its start, reads at most. */
  maxRead: int(20_000),
  /** Tasks of one step of an action; after each step its progress is stored. */
  stepTasks: int(100),
  /** Between two searches for actions that have a step to run. */
  pollMs: int(1000, 50),
  /** How long a worker may take for a step; after that another worker repeats it. */
  leaseMs: int(10_000, 500),
  /** Tasks that one action may name by their ids. */
  maxIds: int(1000),
  /** Actions of one tenant that have not ended. */
  maxActive: int(5),
  /** Actions of one tenant that are kept, the ended ones included; the oldest ended ones go first. */
  maxKept: int(200),
  /** How long an ended action can be read. */
  retentionMs: int(7 * 86_400_000),
});

/** A source's policy. What it leaves out it has from its own defaults, so that changing one figure changes no other. */
const retryPolicy = (retryDelayMs: number) =>
  z
    .strictObject({
      maxAttempts: int(3),
      retryDelayMs: int(retryDelayMs, 0),
      retryBackoff: z.enum(['exponential', 'linear']).default('exponential'),
      /** Whether a task that waits for its retry keeps its place in its lane, or lets the next one go first. */
      lane: z.enum(['hold', 'yield']).default('hold'),
      /** The lane of this source's tasks that have no session, from `lanes`. */
      sharedLane: z.string().optional(),
    })
    .prefault({});

const inSeconds = retryPolicy(2000);
const inMinutes = retryPolicy(60_000);

/** When a failed attempt is followed by another, by source. */
export const retrySettingsSchema = z
  .strictObject({
    chat: inSeconds,
    api: inSeconds,
    proactive: inSeconds,
    delegation: inSeconds,
    webhook: inMinutes,
    schedule: inMinutes,
    /** No backoff is longer than this. */
    maxDelayMs: int(600_000),
    /** A provider's "later" counts for no longer than this. */
    maxThrottleMs: int(3_600_000),
    /** Interrupted attempts, which cost nothing, before a further throttling counts as a failure. */
    maxInterruptions: int(100),
    maxHoldMs: int(32 * 24 * 3_600_000, 1000),
    /** After a timeout the next attempt may take this many times as long. */
    timeoutGrowth: z.number().min(1).max(10).default(1.5),
  })
  .prefault({});

/** How results reach chats and callback URLs. */
export const deliverySettingsSchema = z.strictObject({
  /** How long a delivery of a process that died is left alone before another process takes it. */
  lockMs: int(10 * SECOND, 200),
  /** Between two searches for ended tasks that have no delivery yet. */
  sweepMs: int(SECOND, 50),
  /** A delivery that is not done has its job looked up this often, and a new one made when it is gone. */
  auditMs: int(30 * SECOND, 50),
  /** Longest between two reads of a task whose hint was lost. */
  pollMs: int(5 * SECOND, 50),
  /** How long a delivery whose task waits leaves its slot to others, while most slots are taken. */
  stepAsideMs: int(15 * SECOND, 50),
  /** Between two signs that an answer is coming, by platform; what is not named has `typingMs`. */
  typingMs: int(4 * SECOND, 50),
  typingMsByPlatform: z.record(z.string(), z.number().int().min(50)).default({ discord: 8 * SECOND, whatsapp: 20 * SECOND }),
  /** Whether a message that waited for longer than `noticeAfterMs` gets a line that says how long. */
  verbose: z.boolean().default(false),
  noticeAfterMs: int(2 * SECOND, 0),
  /** How long the record of a delivery can be read after its last change. */
  retentionMs: int(7 * DAY, SECOND),
  /** Between two looks for records whose time is over. */
  trimMs: int(MINUTE, 100),
  /** Chat replies: tries that count, the first wait between two (it doubles), and the longest. */
  maxAttempts: int(8),
  firstRetryMs: int(SECOND, 10),
  maxRetryMs: int(MINUTE, 10),
  /** No platform's "later" is believed for longer than this. */
  maxThrottleMs: int(10 * MINUTE, 10),
  /** A chat reply that could not be sent for so long after its task's end fails. */
  maxAgeMs: int(6 * HOUR, 100),
  /** Files that one reply sends into its chat; its text names the others. */
  maxFiles: int(10, 0),
  /** Bytes of the files of one reply together; its text names the files beyond. */
  maxFileBytes: int(52_428_800, 0),
  /** How long a reply waits for an earlier reply of its session, from the end of that reply's task. */
  orderWaitMs: int(30 * SECOND, 0),
  callbacks: z
    .strictObject({
      /** Waits after the first try, the second, and so on; one failure more ends the delivery. */
      retryMs: z
        .array(z.number().int().min(0))
        .max(50)
        .default([5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]),
      /** How long an endpoint may take to answer. */
      timeoutMs: int(15 * SECOND, 50),
      /**
       * An endpoint that failed for so long, without a success, is not called until it is enabled by hand. A pause of two days, or twice
       * the longest `retryMs`, resets that time.
       */
      disableAfterMs: int(5 * DAY),
      /** Calls under way at once in one process, per tenant. */
      maxPerTenant: int(50),
      /** Failing endpoints remembered per tenant; a further one replaces the endpoint that failed longest ago. */
      maxEndpoints: int(1000),
      /** How long a failing or disabled endpoint is remembered after its last failure. */
      endpointRetentionMs: int(30 * DAY, SECOND),
      /** How long after a change of the secret calls are signed with the previous secret too. */
      secretOverlapMs: int(DAY, 0),
    })
    .prefault({}),
});

export type DeliverySettings = z.infer<typeof deliverySettingsSchema>;
