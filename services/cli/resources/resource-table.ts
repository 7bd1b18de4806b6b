import { z } from 'zod';
import { formatTable } from '../format-table.ts';
import { cut, oneLine } from '../plain-text.ts';
import { readAnswer } from '../read-answer.ts';
import type { RunContext } from '../run-context.ts';

/** What lists of every kind take. */
export interface ListOptions {
  limit?: string;
  cursor?: string;
  json?: boolean;
}

/** How a kind of record is listed: where it is, and what a line shows of each. */
export interface ResourceTable<T> {
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  item: z.ZodType<T>;
  heading: readonly string[];
  row: (item: T) => readonly string[];
  /** Said when there is none. */
  empty: string;
}

/** Columns of a line that no screen bounds. */
const MAX_COLUMNS = 160;
const MAX_CELL = 80;

/** Prints a page of records, a line each, and how to go on. */
export async function showResourceTable<T>(table: ResourceTable<T>, { json }: ListOptions, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(table.path, table.query);
  if (json === true) return terminal.json(answer);
  const page = z.object({ items: z.array(table.item), nextCursor: z.string().nullable() });
  const { items, nextCursor } = readAnswer(page, answer);
  if (items.length === 0 && nextCursor === null) return terminal.note(table.empty);
  const rows = items.map((item) => table.row(item).map((cell) => oneLine(cell, MAX_CELL)));
  const [heading = '', ...lines] = formatTable([table.heading, ...rows]).map((line) => cut(line, terminal.columns ?? MAX_COLUMNS));
  terminal.line(terminal.paint(heading, 'dim'));
  for (const line of lines) terminal.line(line);
  if (nextCursor !== null) terminal.note(terminal.paintNote(`There is more: --cursor ${nextCursor}`, 'dim'));
}
