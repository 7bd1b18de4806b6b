import { z } from 'zod';
import { formatTable } from './format-table.ts';
import { cut, oneLine } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { scheduleViewSchema, wallTime } from './schedule-view.ts';

export interface ListSchedulesOptions {
  status?: string;
  agent?: string;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const pageSchema = z.object({ items: z.array(scheduleViewSchema), nextCursor: z.string().nullable() });

/** Of a line that nobody's screen bounds. */
const WIDE = 160;
const RULE_WIDTH = 28;
const HEADING = ['#', 'STATUS', 'AGENT', 'RULE', 'NEXT', 'ZONE', 'RUNS', 'MESSAGE'];

/** `muster schedule list`: one schedule per line, with its next time by the clock of its zone. */
export async function listSchedules({ json, ...query }: ListSchedulesOptions, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/schedules', query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema, answer);
  if (items.length === 0) return terminal.note('There is no schedule. Make one: npx muster schedule "every day at 9" "Hello"');
  const rows = items.map(({ number, status, agent, kind, rule, nextFireAt, tz, runCount, message }) => [
    String(number),
    status,
    agent,
    // Its time is the next one, or is over.
    kind === 'once' ? 'once' : oneLine(rule, RULE_WIDTH),
    nextFireAt ? wallTime(nextFireAt, tz) : '-',
    tz,
    String(runCount),
    oneLine(message, WIDE),
  ]);
  const [first = '', ...lines] = formatTable([HEADING, ...rows]).map((line) => cut(line, terminal.columns ?? WIDE));
  terminal.line(terminal.paint(first, 'dim'));
  for (const line of lines) terminal.line(line);
  if (nextCursor !== null) terminal.note(terminal.paintNote(`There is more: --cursor ${nextCursor}`, 'dim'));
}
