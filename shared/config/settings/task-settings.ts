import { z } from 'zod';
import { int } from '../fields.ts';

/** What a task may take, and how long it is kept. */
export const taskSettingsSchema = z.strictObject({
  /** Time an attempt may take when neither the task nor its agent says. */
  timeoutMs: int(300_000),
  /** Longest that a task, or an agent made by API, may ask for. Agents of the configuration may say more. */
  maxTimeoutMs: int(14_400_000),
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
    /** After a timeout the next attempt may take this many times as long. */
    timeoutGrowth: z.number().min(1).max(10).default(1.5),
  })
  .prefault({});
