import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { runLines, runPageSchema } from './run-lines.ts';
import { schedulePath, scheduleViewSchema } from './schedule-view.ts';

export interface ListRunsOptions {
  limit?: string;
  cursor?: string;
  json?: boolean;
}

/** `muster schedule runs`: the runs of a schedule, newest first. */
export async function listRuns(name: string, { json, ...query }: ListRunsOptions, context: RunContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const answer = await api.get(`${schedulePath(name)}/runs`, query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(runPageSchema, answer);
  if (items.length === 0) return terminal.note('It has not run yet.');
  const { tz } = readAnswer(scheduleViewSchema, await api.get(schedulePath(name)));
  for (const line of runLines(items, tz)) terminal.line(line);
  if (nextCursor !== null) terminal.note(terminal.paintNote(`There is more: --cursor ${nextCursor}`, 'dim'));
}
