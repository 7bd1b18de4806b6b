import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { pageSchema, showTable } from '../../output/table.ts';
import { saveFiles } from './save-files.ts';
import { resolveTaskId } from './task-view.ts';

const artifactSchema = z.object({ name: z.string(), mediaType: z.string(), bytes: z.number(), attempt: z.number() });

interface ArtifactOptions {
  json?: boolean;
  save?: string;
}

/** `muster artifacts <id>`: the files that a task made. */
export function addArtifactCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('artifacts <id>')
    .description('list the files that a task made, or save them')
    .option('--save <folder>', 'write them there; a file that is there already is kept, and the command fails')
    .option('--json', 'print the answer as JSON')
    .action((id: string, options: ArtifactOptions, command: Command) => runArtifacts(id, options, contextOf(command)));
}

async function runArtifacts(given: string, { json, save }: ArtifactOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const client = context.connect();
  const path = `/v1/tasks/${await resolveTaskId(client, given)}/artifacts`;
  const answer = await client.get(path);
  const { items, nextCursor } = readAnswer(pageSchema(artifactSchema), answer);
  if (json === true) terminal.json(answer);
  else if (items.length === 0) terminal.note('The task has made no files.');
  else {
    const rows = items.map(({ name, mediaType, bytes, attempt }) => [name, mediaType, String(bytes), String(attempt)]);
    showTable({ heading: ['NAME', 'TYPE', 'BYTES', 'ATTEMPT'], rows, nextCursor }, terminal);
  }
  if (save === undefined) return;
  const files = items.map(({ name }) => ({
    name,
    download: (signal: AbortSignal) => client.download(`${path}/${encodeURIComponent(name)}`, signal),
  }));
  for (const target of await saveFiles(files, save)) terminal.note(`Saved ${target}`);
}
