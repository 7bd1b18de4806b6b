import { z } from 'zod';

/** What a person or a session left, by what it is found. */
export const ERASURE_KINDS = ['session', 'person'] as const;

/** `collect`: its tasks are found, and stopped. `remove`: those that have ended are removed. `rest`: what is left of them elsewhere. */
const PHASES = ['collect', 'remove', 'rest', 'done'] as const;

const removedSchema = z.object({
  tasks: z.number(),
  files: z.number(),
  deliveries: z.number(),
  notifications: z.number(),
  webhooks: z.number(),
  sessions: z.number(),
});

/** An erasure as it is stored. Times are milliseconds since the epoch. */
export const erasureSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  kind: z.enum(ERASURE_KINDS),
  /** The session's id, or what names the person; null once it has ended: then nothing names them here either. */
  of: z.string().nullable(),
  /** Id of the key that requested it. */
  by: z.string().nullable(),
  /** Whether what signs the person in is removed too, which the whole fleet shares. */
  withSignIn: z.boolean(),
  phase: z.enum(PHASES),
  /** Where `collect` continues: behind this task. */
  cursor: z.string().nullable(),
  /** Its tasks that have not ended yet, as of the last step. */
  stopping: z.number(),
  removed: removedSchema,
  createdAt: z.number(),
  completedAt: z.number().nullable(),
});
export type Erasure = z.infer<typeof erasureSchema>;

export const NOTHING_REMOVED: Erasure['removed'] = { tasks: 0, files: 0, deliveries: 0, notifications: 0, webhooks: 0, sessions: 0 };
