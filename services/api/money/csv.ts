import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Answer } from '#shared/http/index.ts';

/** Of a list that is exported too. */
export const formatSchema = z
  .enum(['json', 'csv'])
  .default('json')
  .meta({ description: '`csv`: the items as a table with a heading, without cursors (RFC 4180).' });

/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Answers with items as CSV: a column for each field of the first one. */
export function answerCsv(name: string, items: readonly Readonly<Record<string, unknown>>[]): Answer {
  const columns = Object.keys(items[0] ?? {});
  const lines = [columns, ...items.map((item) => columns.map((column) => item[column]))].map((cells) => cells.map(cellOf).join(','));
  const headers = { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': `attachment; filename="${name}.csv"` };
  return { status: 200, headers, stream: Readable.from([`${lines.join('\r\n')}\r\n`]) };
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
