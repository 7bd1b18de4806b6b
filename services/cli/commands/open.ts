import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';

/** The program that opens an address on each system. Elsewhere the printed address has to do. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['cmd', '/c', 'start', ''],
};

const MINUTE_MS = 60_000;

interface OpenOptions {
  print?: boolean;
}

const linkSchema = z.object({ path: z.string(), expiresAt: z.string() });

export function addOpenCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('open')
    .description('open the console in a browser that a link signs in once, and print the link')
    .option('--print', 'only print the link')
    .action((options: OpenOptions, command: Command) => runOpen(options, contextOf(command)));
}

async function runOpen({ print }: OpenOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const { path, expiresAt } = readAnswer(linkSchema, await api.post('/v1/sign-in-links'));
  const link = `${api.url}${path}`;
  terminal.line(link);
  const minutes = Math.ceil((Date.parse(expiresAt) - context.clock.now()) / MINUTE_MS);
  terminal.note(terminal.paintNote(`The link signs one browser in, once, within ${minutes} min.`, 'dim'));
  const [program, ...args] = OPENERS[process.platform] ?? [];
  if (print === true || program === undefined) return;
  const child = spawn(program, [...args, link], { detached: true, stdio: 'ignore' });
  // Waiting for its end would wait for the browser.
  await once(child, 'spawn').then(
    () => child.unref(),
    () => terminal.note('No browser can be opened here. Open the link yourself.'),
  );
}
