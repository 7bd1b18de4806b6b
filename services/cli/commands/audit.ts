import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { pointInTime } from '../output/terminal.ts';
import { addPaging } from './options.ts';

const entrySchema = z.object({
  at: z.string(),
  actor: z.object({ kind: z.string(), name: z.string() }),
  via: z.string(),
  from: z.string().nullable(),
  action: z.string(),
  actionText: z.string().optional(),
  object: z.string().nullable(),
  outcome: z.string(),
  code: z.string().nullable(),
});

interface AuditOptions extends ListOptions {
  export?: boolean;
  [filter: string]: string | boolean | undefined;
}

export function addAuditCommand(program: Command, contextOf: ContextOf): void {
  addPaging(program.command('audit').description('list who changed what, when and from where'), '50')
    .option('--who <id|name>', 'who acted: an id, or part of a name')
    .option('--action <name>', 'such as cancelTask, signIn, boardRetry')
    .option('--object <path>', 'what it was done to, from the beginning, such as schedules/')
    .option('--outcome <outcome>', 'done, refused or failed')
    .option('--since <time>', 'at or after, such as 2026-05-01T09:00:00Z')
    .option('--until <time>', 'before')
    .option('--q <text>', 'with this text in any of it')
    .option('--export', 'print all entries that fit, one JSON object a line')
    .action((options: AuditOptions, command: Command) => runAudit(options, contextOf(command)));
}

async function runAudit({ json, export: isExport, ...options }: AuditOptions, context: CommandContext): Promise<void> {
  const query = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, value === undefined ? undefined : String(value)]));
  if (isExport === true) return await exportAll(query, context);
  await showList(
    {
      path: '/v1/audit',
      query,
      item: entrySchema,
      heading: ['TIME', 'WHO', 'ACTION', 'OBJECT', 'OUTCOME', 'VIA', 'FROM'],
      row: ({ at, actor, via, from, action, actionText = action, object, outcome, code }) => [
        pointInTime(at),
        `${actor.name} (${actor.kind})`,
        actionText,
        object ?? '-',
        code === null ? outcome : `${outcome}: ${code}`,
        via,
        from ?? '-',
      ],
      empty: 'No entry fits.',
    },
    json === true ? { json } : {},
    context,
  );
}

async function exportAll(query: Record<string, string | undefined>, context: CommandContext): Promise<void> {
  const { limit: _limit, cursor: _cursor, ...filter } = query;
  const given = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams([...given, ['format', 'ndjson']]).toString();
  const lines = await context.connect().download(`/v1/audit?${search}`);
  for await (const text of lines.pipeThrough(new TextDecoderStream())) context.terminal.content(text);
}
