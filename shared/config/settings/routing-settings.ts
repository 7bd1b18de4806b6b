import { z } from 'zod';
import { agentIdSchema } from '../agent-definitions.ts';
import { nameSchema } from '../fields.ts';
import { QUEUE_MODES, type QueueMode } from '../sources.ts';

const mode = z.enum(QUEUE_MODES);
const name = z.string().min(1).max(200);

/** Surfaces are where people write from: `telegram`, `slack`, `discord`, `whatsapp`, and `webchat`, Muster's own page and API. */
const DEFAULT_BY_SURFACE: Readonly<Partial<Record<string, QueueMode>>> = {
  whatsapp: 'interrupt',
  telegram: 'interrupt',
  discord: 'queue',
  webchat: 'queue',
};

interface ConfiguredModes {
  mode?: QueueMode | undefined;
  bySurface: Record<string, QueueMode>;
}

/** The operator's settings win, for all surfaces or for one; built-in modes serve only surfaces without a setting. */
function withDefaults<T extends ConfiguredModes>(given: T): T & { mode: QueueMode; bySurface: Partial<Record<string, QueueMode>> } {
  if (given.mode !== undefined) return { ...given, mode: given.mode };
  return { ...given, mode: 'queue', bySurface: { ...DEFAULT_BY_SURFACE, ...given.bySurface } };
}

/** Which agent answers, and what becomes of a message that meets a running task. */
export const routingSchema = z.strictObject({
  queue: z
    .strictObject({
      /** For surfaces that `bySurface` does not name; by default their built-in modes, else `queue`. */
      mode: mode.optional(),
      /** By surface. Messages by API may name surfaces of their own. */
      bySurface: z.record(name, mode).default({}),
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
    .transform(withDefaults)
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
const laneSchema = z.strictObject({ /** Tasks of the lane that run at once, per tenant. */ limit: z.number().int().min(1).max(10_000) });

type Lane = z.infer<typeof laneSchema>;
/** As it is written; the one name with a capital letter is that of a setting. */
type WrittenLanes = { [lane: string]: Lane | number | undefined; reserveAfterMs?: number | undefined };

/** Named lanes, and what holds for all of them. */
export const lanesSchema: z.ZodType<Record<string, Lane> & { reserveAfterMs: number }, WrittenLanes> = z
  .object({
    /**
     * A task that needs several lanes, or one and a cap, leaves those that have room to others while it waits for the rest. After this time they
     * are kept for it.
     */
    reserveAfterMs: z.int().min(0).max(3_600_000).default(30_000),
  })
  .catchall(laneSchema)
  .superRefine(({ reserveAfterMs: _reserveAfterMs, ...lanes }, context) => {
    for (const lane of Object.keys(lanes))
      if (!nameSchema.safeParse(lane).success) context.addIssue({ code: 'custom', path: [lane], message: 'This is no name of a lane' });
  });

export const sessionSettingsSchema = z.strictObject({
  /** Messages that wait in one session; one more is dropped. */
  maxWaiting: z.number().int().min(1).max(5000).default(1000),
  /** Turns of a session that agents are given as history, newest last. */
  transcriptTurns: z.number().int().min(0).max(1000).default(50),
  /** Bytes of these turns; the oldest go first. A longer last turn is cut to its beginning. */
  transcriptBytes: z.number().int().min(0).max(4_194_304).default(65_536),
  /** How long what was chosen for a session (its mode, where its transcript begins) is kept after its last use. */
  retentionMs: z
    .number()
    .int()
    .min(1000)
    .default(30 * 86_400_000),
  /** Sessions of a tenant of which a choice is kept; with one more, the choice that was used longest ago goes. */
  maxRecords: z.number().int().min(1).default(100_000),
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

const laneName = z.string().optional().catch(undefined);
const named = <Field extends z.ZodType>(field: Field): z.ZodCatch<z.ZodRecord<z.ZodString, Field>> => z.record(z.string(), field).catch({});

/** As much of a configuration as lanes are named in. Its own schema reports what else is wrong with it. */
const writtenLanesSchema = z
  .object({
    agents: named(z.object({ lane: laneName }).catch({})),
    retries: named(z.object({ sharedLane: laneName }).catch({})),
    lanes: named(z.unknown()),
  })
  .catch({ agents: {}, retries: {}, lanes: {} });

/**
 * Lanes that agents and sources name and `lanes` does not have, one line each. Takes the file as it was written, so that it can be
 * reported together with whatever else is wrong in it.
 */
export function laneProblems(written: unknown): string[] {
  const { agents, retries, lanes } = writtenLanesSchema.parse(written);
  const wanted = [
    ...Object.entries(agents).map(([id, agent]) => ({ path: `agents.${id}.lane`, name: agent.lane })),
    ...Object.entries(retries).map(([source, policy]) => ({ path: `retries.${source}.sharedLane`, name: policy.sharedLane })),
  ];
  return wanted
    .filter((lane) => lane.name !== undefined && !Object.hasOwn(lanes, lane.name))
    .map((lane) => `${lane.path}: there is no lane "${lane.name}" in "lanes"`);
}
