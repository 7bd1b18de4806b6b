import { z } from 'zod';
import type { Clock } from '#shared/time/index.ts';
import { formatTable } from './format-table.ts';
import { cut, oneLine } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { shortAge } from './short-time.ts';
import { styleOfStatus } from './style-of-status.ts';
import { taskViewSchema, type TaskView } from './task-view.ts';

export interface ListOptions {
  status?: string;
  agent?: string;
  session?: string;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const pageSchema = z.object({ items: z.array(taskViewSchema), nextCursor: z.string().nullable() });

/** Of a line that nobody's screen bounds. */
const WIDE = 160;
const SESSION_WIDTH = 24;

/** `muster tasks`: the newest tasks, one per line. */
export async function listTasks({ json, ...query }: ListOptions, context: RunContext, clock: Clock): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/tasks', query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema, answer);
  if (items.length === 0) return terminal.note('No task fits. Send one: npx muster send "Hello"');
  for (const line of render(items, context, clock)) terminal.line(line);
  if (nextCursor !== null) terminal.note(terminal.paintNote(`There is more: --cursor ${nextCursor}`, 'dim'));
}

function render(tasks: readonly TaskView[], { terminal }: RunContext, clock: Clock): string[] {
  const now = clock.now();
  const hasSessions = tasks.some(({ session }) => session);
  const rows = tasks.map(({ id, status, agent, session, priority, createdAt, input }) => {
    const lane = hasSessions ? [oneLine(session ?? '', SESSION_WIDTH)] : [];
    return [id, status, agent, ...lane, String(priority), shortAge(now - Date.parse(createdAt)), oneLine(input, WIDE)];
  });
  const heading = ['ID', 'STATUS', 'AGENT', ...(hasSessions ? ['SESSION'] : []), 'PRIO', 'AGE', 'INPUT'];
  const [first = '', ...lines] = formatTable([heading, ...rows]).map((line) => cut(line, terminal.columns ?? WIDE));
  const painted = lines.map((line, index) => {
    const status = tasks[index]?.status ?? '';
    return line.replace(status, () => terminal.paint(status, styleOfStatus(status)));
  });
  return [terminal.paint(first, 'dim'), ...painted];
}
