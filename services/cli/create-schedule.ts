import { randomUUID } from 'node:crypto';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { nameAgents } from './name-agents.ts';
import { oneLine } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { scheduleViewSchema, showUpcoming } from './schedule-view.ts';

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

const USAGE = 'Say when, and what: npx muster schedule "every monday at 09:00" "summarise the week" --agent assistant';

/** `muster schedule <when> <message>`: makes a schedule, and shows how it was understood. */
export async function createSchedule(
  { when, message }: { when: string | undefined; message: string | undefined },
  { json, ...options }: CreateScheduleOptions,
  context: RunContext,
): Promise<void> {
  const { terminal } = context;
  if (when === undefined || message === undefined) throw new CliProblem(USAGE, { exitCode: EXIT.usage });
  const text = message === '-' ? await context.readInput() : message;
  if (text.trim() === '') throw new CliProblem('There is no message', { exitCode: EXIT.usage });
  const idempotencyKey = randomUUID();
  const body = { phrase: when, message: text, ...options, idempotencyKey };
  const api = context.connect();
  const answer = await nameAgents(api, options.agent, api.post('/v1/schedules', { body, idempotencyKey }));
  if (json === true) return terminal.json(answer);
  const schedule = readAnswer(scheduleViewSchema, answer);
  terminal.line(`${terminal.paint(`#${schedule.number}`, 'bold')} → ${schedule.agent}: ${oneLine(text, 100)}`);
  showUpcoming(schedule, context);
  terminal.note(terminal.paintNote(`Not what you meant? npx muster schedule cancel ${schedule.number}`, 'dim'));
}
