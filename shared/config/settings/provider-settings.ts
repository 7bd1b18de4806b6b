import { z } from 'zod';
import { int, nameSchema } from '../fields.ts';

const limit = z.number().int().min(1).optional();

/** Accounts at providers of models, by name: what each of their models may be called. What is left out is learned from the answers. */
export const providersSchema = z
  .record(
    nameSchema,
    z.strictObject({
      /** Where its models are called, as an agent's `baseUrl`. */
      baseUrl: z.url({ protocol: /^https?$/ }),
      /** Calls of one model per minute. */
      requestsPerMinute: limit,
      /** Tokens of one model per minute, of inputs and outputs together. */
      tokensPerMinute: limit,
      /** Calls of one model at once. */
      concurrent: limit,
      /** Whether it has OpenAI's interface of batches, by which calls of tasks with `within` go. Defaults to false. */
      batch: z.boolean().optional(),
      /** The part of a call's price that a batch saves. Defaults to a half, as [OpenAI](https://openai.com/api/pricing/) says. */
      batchDiscount: z.number().min(0).max(1).optional(),
    }),
  )
  .default({});

/** How the fleet shares what a provider allows. */
export const throttleSettingsSchema = z
  .strictObject({
    /** Longest wait of an attempt's first call in its slot; a longer one gives the slot back. Defaults to a second. */
    maxInSlotWaitMs: int(1000, 0),
    /** Longest wait of a later call of an attempt, which keeps its slot. Defaults to half a minute. */
    maxCallWaitMs: int(30_000, 0),
    /** Between two releases of tasks that wait for a provider. Defaults to 250 ms. */
    pumpMs: int(250, 20),
    /** How long before its call may go a waiting task is released, so that it has a slot by then. Defaults to 750 ms. */
    horizonMs: int(750, 0),
    /** How long the place of a released task is kept for its call; later it goes to another. Defaults to 10 s. */
    reservationMs: int(10_000, 100),
    /** A task that waits for a provider tries its call after so long, released or not. Defaults to ten minutes. */
    maxHoldMs: int(600_000, 1000),
    /** The share of a minute's calls and tokens that may go at once after a pause; the rest is spread. Defaults to a tenth. */
    burst: z.number().min(0).max(1).default(0.1),
    /** How long the call of a process that was killed counts as under way. Defaults to 15 s. */
    callLeaseMs: int(15_000, 1000),
    /** Before the next call after a refusal that names no time; doubled with each refusal in a row up to a minute. Defaults to a second. */
    coolDownMs: int(1000, 1),
    /** Before one call tries an account again that ran out of its quota; doubled up to `maxProbeMs` by each that is refused. Defaults to a minute. */
    probeMs: int(60_000, 10),
    /** Longest time between two such calls. Defaults to 15 minutes. */
    maxProbeMs: int(900_000, 10),
    /** Models of accounts of which a record is kept; those that were not called for longest go first. Defaults to 1000. */
    maxRecords: int(1000),
    /** How long a record is kept after its last call. Defaults to two days. */
    retentionMs: int(2 * 86_400_000, 60_000),
  })
  .prefault({});
