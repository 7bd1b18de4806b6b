import { z } from 'zod';

const holderSchema = z.object({
  taskId: z.string(),
  startedAt: z.string().nullish(),
  worker: z.string().nullish(),
  status: z.string().nullish(),
  reason: z.string().nullish(),
});

/** What the commands show of a session in a list. */
export const sessionSummarySchema = z.object({
  id: z.string(),
  mode: z.string(),
  holder: holderSchema.nullish(),
  waitingTotal: z.number(),
});

/** What they show of one session. */
export const sessionViewSchema = sessionSummarySchema.extend({
  modeSource: z.string().nullish(),
  surface: z.string().nullish(),
  waiting: z.array(z.object({ taskId: z.string(), position: z.number(), reason: z.string() })),
  transcriptLength: z.number().nullish(),
});
