import { z } from 'zod';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { showUpcoming } from './schedule-view.ts';

export interface PreviewOptions {
  tz?: string;
  from?: string;
  count?: number;
  json?: boolean;
}

const previewSchema = z.object({ rule: z.string(), sentence: z.string(), tz: z.string(), next: z.array(z.string()) });

/** `muster schedule preview`: says how a rule is understood and when it would fire, and makes nothing. */
export async function previewSchedule(when: string, { json, ...options }: PreviewOptions, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post('/v1/schedules/preview', { body: { phrase: when, ...options } });
  if (json === true) return terminal.json(answer);
  const preview = readAnswer(previewSchema, answer);
  showUpcoming(preview, context);
}
