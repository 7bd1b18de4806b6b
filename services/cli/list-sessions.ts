import { z } from 'zod';
import type { Clock } from '#shared/time/index.ts';
import { formatTable } from './format-table.ts';
import { oneLine } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { sessionSummarySchema } from './session-view.ts';
import { shortAge } from './short-time.ts';

export interface ListSessionsOptions {
  active?: boolean;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const pageSchema = z.object({ items: z.array(sessionSummarySchema), nextCursor: z.string().nullable() });
const NAME_WIDTH = 40;

/** `muster sessions`: the sessions that have tasks, one per line, with what runs in each and how many wait. */
export async function listSessions({ active, limit, cursor, json }: ListSessionsOptions, context: RunContext, clock: Clock): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/sessions', { limit, cursor, active: active === true ? 'true' : undefined });
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema, answer);
  if (items.length === 0 && nextCursor === null)
    return terminal.note('No session has tasks. Make one: npx muster send "Hello" --session demo');
  const rows = items.map(({ id, mode, waitingTotal, holder }) => {
    const since = holder?.startedAt ? shortAge(clock.now() - Date.parse(holder.startedAt)) : '';
    return [oneLine(id, NAME_WIDTH), mode, String(waitingTotal), since, holder?.taskId ?? ''];
  });
  const [heading = '', ...lines] = formatTable([['SESSION', 'MODE', 'WAITING', 'RUNS FOR', 'TASK'], ...rows]);
  terminal.line(terminal.paint(heading, 'dim'));
  for (const line of lines) terminal.line(line);
  if (nextCursor !== null) terminal.note(terminal.paintNote(`There is more: --cursor ${JSON.stringify(nextCursor)}`, 'dim'));
}
