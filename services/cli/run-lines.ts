import { z } from 'zod';
import { formatTable } from './format-table.ts';
import { oneLine } from './plain-text.ts';
import { zonedTime } from './schedule-view.ts';

const text = z.string().nullish();

/** What the commands show of a run; the server's record has more. */
const runViewSchema = z.object({
  id: z.string(),
  status: z.string(),
  occurrence: text,
  startedAt: text,
  reason: text,
  resultSummary: text,
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});

export const runPageSchema = z.object({ items: z.array(runViewSchema), nextCursor: z.string().nullable() });

const SAID_WIDTH = 80;

/** A line per run: when it was due by the clock of the zone, what became of it, and why or with what result. */
export function runLines(runs: readonly z.infer<typeof runViewSchema>[], tz: string): string[] {
  return formatTable(
    runs.map(({ id, status, occurrence, startedAt, reason, resultSummary, error }) => {
      const at = occurrence ?? startedAt;
      const said = error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? '');
      return ['', at ? zonedTime(at, tz) : '-', status, id, oneLine(said, SAID_WIDTH)];
    }),
  );
}
