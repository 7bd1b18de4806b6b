import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/queue-mode.ts';
import { TASK_STATUSES } from '#shared/tasks/transitions.ts';

// What the API answers, as far as the pages read it. Further fields are left alone: they may be added at any time.

export const outcomeSchema = z.object({ kind: z.string(), taskId: z.string().nullish(), reason: z.string().nullish() });
export type Outcome = z.infer<typeof outcomeSchema>;

export const taskStatusSchema = z.enum(TASK_STATUSES);

export const taskSchema = z.object({
  id: z.string(),
  agent: z.string(),
  source: z.string(),
  session: z.string().nullable(),
  status: taskStatusSchema,
  input: z.string(),
  outcome: outcomeSchema.nullable(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
});
export type Task = z.infer<typeof taskSchema>;

const modeFields = { mode: z.enum(QUEUE_MODES), modeSource: z.string() };

export const sessionSummarySchema = z.object({
  id: z.string(),
  ...modeFields,
  surface: z.string(),
  holder: z.object({ taskId: z.string() }).nullable(),
  waitingTotal: z.number(),
});
export type SessionSummary = z.infer<typeof sessionSummarySchema>;

export const sessionSchema = sessionSummarySchema.extend({
  holder: z.object({ taskId: z.string(), reason: z.string().nullable() }).nullable(),
  waiting: z.array(z.object({ taskId: z.string(), position: z.number(), reason: z.string() })),
});
export type Session = z.infer<typeof sessionSchema>;

export const agentSchema = z.object({ id: z.string() });

export const personSchema = z.object({ tenant: z.string(), name: z.string(), scopes: z.array(z.string()) });

/** A list as the API answers it. */
export const listOf = <Item extends z.ZodType>(item: Item): z.ZodObject<{ items: z.ZodArray<Item> }> => z.object({ items: z.array(item) });
