import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import type { CommandContext, ContextOf } from '../command-context.ts';

/** The program that opens an address on each system. Elsewhere the printed address has to do. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['cmd', '/c', 'start', ''],
};

interface OpenOptions {
  print?: boolean;
}

export function addOpenCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('open')
    .description('print the address of the console and open it in a browser')
    .option('--print', 'only print the address')
    .action((options: OpenOptions, command: Command) => runOpen(options, contextOf(command)));
}

async function runOpen({ print }: OpenOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const address = `${context.connect().url}/`;
  terminal.line(address);
  const [program, ...args] = OPENERS[process.platform] ?? [];
  if (print === true || program === undefined) return;
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  // Waiting for its end would wait for the browser.
  await once(child, 'spawn').then(
    () => child.unref(),
    () => terminal.note('No browser can be opened here. Open the address yourself.'),
  );
}
