import { randomUUID } from 'node:crypto';
import { CliProblem, EXIT } from '../cli-problem.ts';
import { withKnownAgents } from './agents.ts';
import { oneLine } from '../output/text.ts';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { scheduleViewSchema, showUpcoming } from './schedule-view.ts';
import { z } from 'zod';

export interface CreateScheduleOptions {
  agent: string;
  tz?: string;
  name?: string;
  priority?: number | string;
  context?: Record<string, unknown>;
  missed?: string;
  maxLateness?: string;
  overlap?: string;
  jitter?: string;
  until?: string;
  maxRuns?: number;
  exact?: boolean;
  platform?: string;
  channel?: string;
  callbackUrl?: string;
  json?: boolean;
}

const USAGE = 'A schedule needs a time and a message: npx muster schedule "every monday at 09:00" "summarise the week" --agent assistant';

/** Creates a schedule, and shows how its times were understood. */
export async function runScheduleCreate(
  { when, message }: { when: string | undefined; message: string | undefined },
  { json, ...options }: CreateScheduleOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  if (when === undefined || message === undefined) throw new CliProblem(USAGE, { exitCode: EXIT.usage });
  const text = message === '-' ? await context.readInput() : message;
  if (text.trim() === '') throw new CliProblem('There is no message', { exitCode: EXIT.usage });
  const idempotencyKey = randomUUID();
  const body = { phrase: when, message: text, ...options, idempotencyKey };
  const api = context.connect();
  const answer = await withKnownAgents(api, options.agent, api.post('/v1/schedules', { body, idempotencyKey }));
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`${terminal.paint(`#${schedule.number}`, 'bold')} → ${schedule.agent}: ${oneLine(text, 100)}`);
  showUpcoming(schedule, context);
  terminal.note(terminal.paintNote(`Not what you meant? npx muster schedule cancel ${schedule.number}`, 'dim'));
}

export interface PreviewOptions {
  tz?: string;
  from?: string;
  count?: number;
  json?: boolean;
}

const previewSchema = z.object({ rule: z.string(), sentence: z.string(), tz: z.string(), next: z.array(z.string()) });

/** Shows how a rule is understood and when it would fire. */
export async function runSchedulePreview(when: string, { json, ...options }: PreviewOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post('/v1/schedules/preview', { body: { phrase: when, ...options } });
  if (json === true) return terminal.json(answer);
  const preview = readAnswer(previewSchema, answer);
  showUpcoming(preview, context);
}
