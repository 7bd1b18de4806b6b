import { z } from 'zod';
import { int } from '../fields.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How results reach chats and callback URLs. */
export const deliverySettingsSchema = z.strictObject({
  /** How long a delivery of a process that died is left alone before another process takes it. */
  lockMs: int(10 * SECOND, 200),
  /** Between two searches for ended tasks that have no delivery yet. */
  sweepMs: int(SECOND, 50),
  /** A delivery that is not done has its job looked up this often, and a new one made when it is gone. */
  auditMs: int(30 * SECOND, 50),
  /** Longest between two looks at a task, for when a hint was lost. */
  lookMs: int(5 * SECOND, 50),
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
