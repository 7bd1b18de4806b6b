import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import { nameAgents } from './name-agents.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { showTaskAsItRuns } from './show-task-as-it-runs.ts';

export interface SendOptions {
  agent: string;
  session?: string;
  mode?: string;
  priority?: number | string;
  context?: Record<string, unknown>;
  wait: boolean;
  json?: boolean;
}

const acceptedSchema = z.object({ id: z.string(), status: z.string().nullable(), position: z.number().nullish() });

/** `muster send`: accepts a task and, unless told not to, shows what it writes until it ends. */
export async function sendTask(text: string, options: SendOptions, context: RunContext): Promise<void> {
  const { terminal } = context;
  const input = text === '-' ? await context.readInput() : text;
  if (input === '') throw new CliProblem('There is no text to send', { exitCode: EXIT.usage });
  if (options.mode !== undefined && options.session === undefined)
    throw new CliProblem('A mode is about the work of a session: name it with --session', { exitCode: EXIT.usage });
  const api = context.connect();
  const answer = await accept(api, input, options);
  const { id, status } = readAnswer(acceptedSchema, answer);
  if (options.wait) return showTaskAsItRuns(id, { api, json: options.json === true, ...context });
  if (options.json === true) return terminal.json(answer);
  terminal.line(id);
  terminal.note(terminal.paintNote(`${status ?? 'no longer kept'}; follow it with npx muster task ${id}`, 'dim'));
}

function accept(api: ApiClient, input: string, { agent, session, mode, priority, context }: SendOptions): Promise<unknown> {
  // The channel says that somebody sits in front of it: work of theirs goes before what nobody watches.
  const body = { agent, input, channel: 'cli', session, mode, priority, context };
  // Of this one call: sending the same text twice on purpose makes two tasks.
  return nameAgents(api, agent, api.post('/v1/tasks', { body, idempotencyKey: `cli-${randomUUID()}` }));
}
