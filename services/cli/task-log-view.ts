import { z } from 'zod';
import { formatTable } from './format-table.ts';
import { oneLine, plainText } from './plain-text.ts';

const text = z.string().nullish();

/** What a task's agent reported beside its output, oldest first. */
export const taskLogSchema = z.object({
  items: z.array(
    z.object({
      at: z.string(),
      attempt: z.number(),
      kind: z.string(),
      level: text,
      text,
      percent: z.number().nullish(),
      fields: z.unknown().optional(),
    }),
  ),
});

export type TaskLog = z.infer<typeof taskLogSchema>['items'];

const TEXT_WIDTH = 160;

/** A line per entry. `timeOf` says when. */
export function taskLogLines(entries: TaskLog, timeOf: (iso: string) => string): string[] {
  const rows = entries.map(({ at, kind, level, text: said, percent, fields }) => {
    const share = typeof percent === 'number' ? `${Math.round(percent)} %` : '';
    const json = fields === null || fields === undefined ? '' : JSON.stringify(fields);
    return ['', timeOf(at), level ?? kind, oneLine([share, said, json].filter(Boolean).join(' '), TEXT_WIDTH)];
  });
  return formatTable(rows);
}

const diagnosticsSchema = z.object({ stack: text, stderr: text });

/** Shows where an error was thrown and what the program wrote to stderr, as far as its details say so. */
export function showDiagnostics(details: unknown, indent: string, show: (line: string) => void): void {
  const known = diagnosticsSchema.safeParse(details);
  if (!known.success) return;
  for (const [name, said] of [
    ['stack', known.data.stack],
    ['stderr', known.data.stderr],
  ] as const) {
    if (!said) continue;
    show(`${indent}${name}:`);
    for (const line of plainText(said).trimEnd().split('\n')) show(`${indent}  ${line}`);
  }
}
