import type { Command } from 'commander';
import { z } from 'zod';
import { wait } from '#shared/time/index.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { plainText } from '../../output/terminal.ts';
import type { JsonOptions } from '../options.ts';

const erasureSchema = z.object({
  id: z.string(),
  status: z.string(),
  stopping: z.number(),
  removed: z.record(z.string(), z.number()),
  kept: z.string(),
});

interface EraseOptions extends JsonOptions {
  yes?: boolean;
}

const LOOK_MS = 500;
/** A running task is stopped within seconds, and a large tenant is read in minutes; the fleet goes on without this command. */
const MAX_WAIT_MS = 600_000;

/** `muster erase session <id>` and `muster erase person <id>`. */
export function addEraseCommand(program: Command, contextOf: ContextOf): void {
  const erase = program.command('erase').description('remove for good what is of a session or of a person');
  const kinds = [
    ['session', 'sessions', 'remove a session: its tasks, files, deliveries and workspaces'],
    ['person', 'people', 'remove what a person sent and what came of it; the id of a sign-in, a visitor or a chat'],
  ] as const;
  for (const [kind, path, description] of kinds) {
    erase
      .command(`${kind} <id>`)
      .description(description)
      .option('--yes', 'needed, because it cannot be undone')
      .option('--json', 'print the answer as JSON')
      .action((id: string, options: EraseOptions, command: Command) =>
        runErase(`/v1/${path}/${encodeURIComponent(id)}?erase`, options, contextOf(command)),
      );
  }
}

async function runErase(path: string, { yes, json }: EraseOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  if (yes !== true) throw new CliProblem('This cannot be undone: add --yes.', { exitCode: EXIT.usage });
  const client = context.connect();
  const endsAt = performance.now() + MAX_WAIT_MS;
  let answer = await client.delete(path);
  while (readAnswer(erasureSchema, answer).status === 'running') {
    const { id } = readAnswer(erasureSchema, answer);
    if (performance.now() > endsAt)
      throw new CliProblem(`It is still under way: GET /v1/erasures/${id} says when it has ended.`, { exitCode: EXIT.failed });
    await wait(LOOK_MS);
    answer = await client.get(`/v1/erasures/${encodeURIComponent(id)}`);
  }
  if (json === true) return terminal.json(answer);
  const { removed, kept } = readAnswer(erasureSchema, answer);
  const counts = Object.entries(removed).filter(([, count]) => count > 0);
  terminal.line(
    counts.length === 0 ? 'There was nothing to remove.' : `Removed: ${counts.map(([name, count]) => `${count} ${name}`).join(', ')}.`,
  );
  terminal.line(plainText(kept));
}
