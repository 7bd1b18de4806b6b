import { z } from 'zod';
import { whole } from './whole.ts';

/** What a task may take, and how long it is kept. */
export const taskSettingsSchema = z.strictObject({
  /** Time an attempt may take when neither the task nor its agent says. */
  timeoutMs: whole(300_000),
  /** Longest that a task, or an agent made by API, may ask for. Agents of the configuration may say more. */
  maxTimeoutMs: whole(14_400_000),
  maxInputBytes: whole(262_144),
  /** Bytes of `context` and `metadata` together. */
  maxContextBytes: whole(65_536),
  /** Bytes of an attempt's output, and of its result as JSON; more fails it with OUTPUT_TOO_LARGE. */
  maxOutputBytes: whole(1_048_576),
  /** How long an ended task can be read. */
  retentionMs: whole(7 * 86_400_000),
  /** Between two looks for tasks whose time is over. */
  trimMs: whole(30_000, 100),
  /** Ended tasks of one tenant that are kept, at about 1.4 kB of Redis's memory each besides what they say; the first accepted go. */
  maxEnded: whole(1_000_000),
  /** How long a running task's output stream is kept after its last write. */
  outputRetentionMs: whole(3_600_000),
  /** Entries of one task's output stream. */
  maxOutputEntries: whole(20_000),
  /** Entries of one task's log: what its agent reports by `context.log` and `context.progress`. One attempt writes so many at most. */
  maxLogEntries: whole(500),
  /** Characters of one entry's text, and of its fields as JSON. */
  maxLogEntryCharacters: whole(2000),
  /** How long a task's log is kept after its last entry. */
  logRetentionMs: whole(86_400_000),
  /** Characters of the stack that a failed attempt is recorded with. */
  maxStackCharacters: whole(4096, 0),
  /** How long an idempotency key is remembered. */
  idempotencyMs: whole(86_400_000),
  /** Bytes of one task's timeline; the oldest entries go first. */
  maxTimelineBytes: whole(16_384, 2048),
});
