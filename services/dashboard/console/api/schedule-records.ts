import { z } from 'zod';

// What the API says of schedules and takes for one, as far as the pages know it.

export const scheduleSchema = z.object({
  id: z.string(),
  number: z.number(),
  name: z.string().nullish(),
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  status: z.string(),
  pausedReason: z.string().nullish(),
  priority: z.number(),
  /** The chat that results are sent to, with its platform. */
  channel: z.string().nullish(),
  platform: z.string().nullish(),
  missed: z.string(),
  overlap: z.string(),
  nextFireAt: z.string().nullish(),
  next: z.array(z.string()),
  lastRunAt: z.string().nullish(),
  lastRunId: z.string().nullish(),
  runCount: z.number(),
});
export type Schedule = z.infer<typeof scheduleSchema>;

export const runSchema = z.object({
  id: z.string(),
  /** Null for one that somebody started. */
  occurrence: z.string().nullish(),
  status: z.enum(['pending', 'running', 'succeeded', 'failed', 'skipped']),
  reason: z.string().nullish(),
  startedAt: z.string().nullish(),
  completedAt: z.string().nullish(),
  resultSummary: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
export type Run = z.infer<typeof runSchema>;

export const previewSchema = z.object({
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  next: z.array(z.string()),
});
export type Preview = z.infer<typeof previewSchema>;

export interface NewSchedule {
  phrase: string;
  message: string;
  agent: string;
  tz: string;
  priority: number;
  overlap: string;
  missed: string;
  name?: string;
  /** The chat that results are sent to, with its platform. */
  platform?: string;
  channel?: string;
}

/** What is to be another way; null takes away. */
export type ScheduleChanges = { [Field in keyof NewSchedule]?: NewSchedule[Field] | null };
