import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RunContext } from './run-context.ts';

/** What opens an address on each system; elsewhere the printed address has to do. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** `muster open`: prints the address of the console, and opens it in a browser where there is one. */
export async function openConsole({ print }: { print?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const address = `${context.connect().url}/`;
  terminal.line(address);
  const [program, ...args] = OPENERS[process.platform] ?? [];
  if (print === true || program === undefined) return;
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  // Waiting for its end would wait for the browser.
  await once(child, 'spawn').then(
    () => child.unref(),
    () => terminal.note('No browser could be opened from here: open the address yourself.'),
  );
}
