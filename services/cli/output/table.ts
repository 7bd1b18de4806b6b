import { z } from 'zod';
import { ellipsize } from '#shared/text/index.ts';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext } from '../command-context.ts';
import { oneLine, type Terminal } from './terminal.ts';

/** Columns are as wide as their widest cell and two spaces apart; the last one is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** The least that is left for the last cell beside the others. */
const MIN_LAST_CELL = 20;

/**
 * The lines of a row whose last cell continues below itself, behind the given number of other cells. Other text, such as the sentence below a
 * table, continues at the margin. Null columns: nothing is wrapped.
 */
export function wrapRow(row: string, cellsBefore: number, columns: number | null): string[] {
  if (columns === null) return [row];
  const [before = ''] = new RegExp(String.raw`^(?: *\S+(?: \S+)* {2,}){${cellsBefore}}`).exec(row) ?? [];
  const indent = before.length + MIN_LAST_CELL <= columns ? before.length : 0;
  const width = Math.max(columns - indent, MIN_LAST_CELL);
  return wrapWords(row.slice(indent), width).map((line, at) => (at === 0 ? row.slice(0, indent) : ' '.repeat(indent)) + line);
}

/** Breaks at spaces. A longer word, such as a path, stays whole, so that it can be copied. */
function wrapWords(text: string, width: number): string[] {
  const full = new RegExp(`(?!.{1,${width}}$)(.{1,${width}}) `, 'g');
  return text.replaceAll(full, '$1\n').split('\n');
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** The schema of a page of records. */
export function pageSchema<T>(item: z.ZodType<T>): z.ZodType<Page<T>> {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** The width of a line that no screen bounds. */
const MAX_COLUMNS = 160;
const MAX_CELL = 80;

export interface Table {
  heading: readonly string[];
  rows: readonly (readonly string[])[];
  nextCursor: string | null;
  /** Colours a line; it is given the number of its row. */
  paint?: (line: string, row: number) => string;
  /** Defaults to the width of the terminal. */
  maxColumns?: number;
}

/** Prints a heading, a line per row, and the cursor of the next page. */
export function showTable({ heading, rows, nextCursor, paint = (line) => line, maxColumns }: Table, terminal: Terminal): void {
  const columns = maxColumns ?? terminal.columns ?? MAX_COLUMNS;
  const [first = '', ...lines] = formatTable([heading, ...rows]).map((line) => ellipsize(line, columns));
  terminal.line(terminal.paint(first, 'dim'));
  lines.forEach((line, row) => terminal.line(paint(line, row)));
  showNextCursor(nextCursor, terminal);
}

export function showNextCursor(nextCursor: string | null, terminal: Terminal): void {
  if (nextCursor === null) return;
  // A cursor that a person has to quote is printed in quotes.
  const word = /^[\w.:-]+$/.test(nextCursor) ? nextCursor : JSON.stringify(nextCursor);
  terminal.note(terminal.paintNote(`There is more: --cursor ${word}`, 'dim'));
}

/** How a kind of record is listed: its path, and the cells of a line. */
interface ListView<T> {
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  item: z.ZodType<T>;
  heading: readonly string[];
  row: (item: T) => readonly string[];
  /** Printed when there is no record. */
  empty: string;
  /** What the records of the page come to, below them; null for nothing. */
  summary?: (items: readonly T[]) => string | null;
}

export interface ListOptions {
  limit?: string;
  cursor?: string;
  json?: boolean;
}

/** Requests a page of records and prints it. */
export async function showList<T>(view: ListView<T>, { json }: ListOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(view.path, view.query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema(view.item), answer);
  if (items.length === 0 && nextCursor === null) return terminal.note(view.empty);
  const rows = items.map((item) => view.row(item).map((cell) => oneLine(cell, MAX_CELL)));
  showTable({ heading: view.heading, rows, nextCursor }, terminal);
  const summary = view.summary?.(items) ?? null;
  if (summary !== null) terminal.note(summary);
}
