import { z } from 'zod';
import { whole } from './whole.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How results reach chats and callback URLs. */
export const deliverySettingsSchema = z.strictObject({
  /** How long a delivery of a process that died is left alone before another process takes it. */
  lockMs: whole(10 * SECOND, 200),
  /** Between two looks for ended tasks that nobody tells of yet. */
  sweepMs: whole(SECOND, 50),
  /** A delivery that is not done has its job looked up this often, and a new one made when it is gone. */
  auditMs: whole(30 * SECOND, 50),
  /** Longest between two looks at a task, for when a hint was lost. */
  lookMs: whole(5 * SECOND, 50),
  /** How long a delivery whose task waits leaves its slot to others, while most slots are taken. */
  stepAsideMs: whole(15 * SECOND, 50),
  /** Between two signs that an answer is coming, by platform; what is not named has `typingMs`. */
  typingMs: whole(4 * SECOND, 50),
  typingMsByPlatform: z.record(z.string(), z.number().int().min(50)).default({ discord: 8 * SECOND, whatsapp: 20 * SECOND }),
  /** Whether a message that waited for longer than `noticeAfterMs` gets a line that says how long. */
  verbose: z.boolean().default(false),
  noticeAfterMs: whole(2 * SECOND, 0),
  /** How long the record of a delivery can be read after its last change. */
  retentionMs: whole(7 * DAY, SECOND),
  /** Between two looks for records whose time is over. */
  trimMs: whole(MINUTE, 100),
  /** Chat replies: tries that count, the first wait between two (it doubles), and the longest. */
  maxAttempts: whole(8),
  firstRetryMs: whole(SECOND, 10),
  maxRetryMs: whole(MINUTE, 10),
  /** No platform's "later" is believed for longer than this. */
  maxThrottleMs: whole(10 * MINUTE, 10),
  /** A chat reply that could not be sent for so long after its task's end fails. */
  maxAgeMs: whole(6 * HOUR, 100),
  /** How long a reply waits for the one of an earlier message of its session, from when that message's task ended. */
  orderWaitMs: whole(30 * SECOND, 0),
  callbacks: z
    .strictObject({
      /** Waits after the first try, the second, and so on; one failure more ends the delivery. */
      retryMs: z
        .array(z.number().int().min(0))
        .max(50)
        .default([5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]),
      /** How long an endpoint may take to answer. */
      timeoutMs: whole(15 * SECOND, 50),
      /**
       * An endpoint that failed for so long, with no success between, is not called any more until somebody enables it. Two days
       * without a call, or twice the longest wait of `retryMs` where that is more, begin the time anew.
       */
      disableAfterMs: whole(5 * DAY),
      /** Calls under way at once in one process, per tenant. */
      maxPerTenant: whole(50),
      /** Failing endpoints remembered per tenant; one more takes the place of the one that failed longest ago. */
      maxEndpoints: whole(1000),
      /** How long a failing endpoint is remembered after its last failure, also one that was disabled. */
      endpointRetentionMs: whole(30 * DAY, SECOND),
      /** How long after a change of the secret calls are signed with the one before, too. */
      secretOverlapMs: whole(DAY, 0),
    })
    .prefault({}),
});

export type DeliverySettings = z.infer<typeof deliverySettingsSchema>;
