import { z } from 'zod';

const text = z.string().nullish();
const errorSchema = z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() });

/** What the commands show of a task; the server's record has more. */
export const taskViewSchema = z.object({
  id: z.string(),
  status: z.string(),
  agent: z.string(),
  source: text,
  session: text,
  priority: z.number(),
  queue: text,
  input: z.string(),
  output: text,
  attempt: z.number(),
  worker: text,
  error: errorSchema.nullish(),
  outcome: z.object({ kind: z.string(), taskId: text, reason: text }).nullish(),
  progress: z.object({ note: text, percent: z.number().nullish() }).nullish(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }).nullish(),
  createdAt: z.string(),
  startedAt: text,
  completedAt: text,
});

export type TaskView = z.infer<typeof taskViewSchema>;

/** The attempts of a task, oldest first. */
export const attemptsSchema = z.object({
  items: z.array(
    z.object({
      number: z.number(),
      worker: z.string(),
      startedAt: z.string(),
      endedAt: z.string().nullish(),
      status: z.string(),
      error: errorSchema.nullish(),
    }),
  ),
});
