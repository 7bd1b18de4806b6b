import { z } from 'zod';
import { agentIdSchema } from './agent-definitions.ts';
import { nameSchema } from './name-schema.ts';
import { QUEUE_MODES, type QueueMode } from './queue-mode.ts';

const mode = z.enum(QUEUE_MODES);
const name = z.string().min(1).max(200);

/** Surfaces are where people write from: `telegram`, `slack`, `discord`, `whatsapp`, and `webchat`, Muster's own page and API. */
const DEFAULT_BY_SURFACE: Readonly<Partial<Record<string, QueueMode>>> = {
  whatsapp: 'interrupt',
  telegram: 'interrupt',
  discord: 'queue',
  webchat: 'queue',
};

/** Which agent answers, and what becomes of a message that meets a running task. */
export const routingSchema = z.strictObject({
  queue: z
    .strictObject({
      /** For surfaces without a mode of their own. */
      mode: mode.default('queue'),
      /** By surface; what it leaves out has its default, or `mode` when that has none. Messages by API may name surfaces of their own. */
      bySurface: z
        .record(name, mode)
        .default({})
        .transform((own) => ({ ...DEFAULT_BY_SURFACE, ...own })),
      /** Mode `collect`. */
      collect: z
        .strictObject({
          /** Quiet time before what waits becomes a turn. */
          debounceMs: z.number().int().min(0).max(60_000).default(500),
          /** Longest time a turn is held back for more messages, from when its lane was free. */
          longestWaitMs: z.number().int().min(0).max(600_000).default(10_000),
          /** Messages of one turn, the first included. */
          cap: z.number().int().min(1).max(100).default(20),
          /** What goes when there are more: the oldest, the newest, or the oldest with a line about it left in the turn. */
          overflow: z.enum(['old', 'new', 'summarize']).default('summarize'),
        })
        .prefault({}),
      /** Mode `interrupt`: whether the next turn has the input of the aborted one before its own. */
      carryInterrupted: z.boolean().default(false),
    })
    .prefault({}),
  /** Who answers a message that names no agent: the first rule that fits. */
  agents: z
    .array(z.strictObject({ surface: name.optional(), channel: name.optional(), user: name.optional(), agent: agentIdSchema }))
    .max(1000)
    .default([]),
  /** Who answers when no rule fits; by default `assistant` when there is one, else `echo`. */
  agent: agentIdSchema.optional(),
});

/** A line of tasks that share something scarce. */
export const lanesSchema = z.record(
  nameSchema,
  z.strictObject({ /** Tasks of the lane that run at once, per tenant. */ limit: z.number().int().min(1).max(10_000) }),
);

export const sessionSettingsSchema = z.strictObject({
  /** Messages that wait in one session; one more is dropped. */
  maxWaiting: z.number().int().min(1).max(5000).default(1000),
  /** Turns of a session that agents are given as history, newest last. */
  transcriptTurns: z.number().int().min(0).max(1000).default(50),
  /** Bytes of these turns; the oldest go first. Of a last one that is longer there is the beginning. */
  transcriptBytes: z.number().int().min(0).max(4_194_304).default(65_536),
  /** How long what was chosen for a session (its mode, where its transcript begins) is kept after its last use. */
  retentionMs: z
    .number()
    .int()
    .min(60_000)
    .default(30 * 86_400_000),
  /** How long a visitor's token is valid unless asked for less. */
  visitorTokenMs: z.number().int().min(1000).default(86_400_000),
  /** Longest that a visitor's token may be asked for. */
  maxVisitorTokenMs: z
    .number()
    .int()
    .min(1000)
    .default(30 * 86_400_000),
  /** Visitor tokens of a tenant that are valid at once. */
  maxVisitors: z.number().int().min(1).default(10_000),
});
