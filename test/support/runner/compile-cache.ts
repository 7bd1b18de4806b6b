import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { childEnvironment } from '../test-environment.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const SERVICES = ['api', 'chat', 'webhooks', 'dashboard', 'scheduler', 'worker', 'cli'];

let child: ChildProcess | undefined;

/** Fills the cache of compiled code beside the first tests; services that tests kill would never. */
export function setup(): void {
  const files = SERVICES.flatMap((service) =>
    readdirSync(resolve(ROOT, 'services', service))
      .filter(isRoot)
      .map(pathIn(service)),
  );
  const program = `await Promise.all(${JSON.stringify(files)}.map((file) => import(file))); process.exit()`;
  child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, env: childEnvironment(), stdio: 'ignore' });
}

export async function teardown(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** What a service is composed in: it imports all of it and starts nothing. */
function isRoot(name: string): boolean {
  return /^create-.*\.ts$|^run-cli\.ts$/.test(name);
}

function pathIn(service: string): (name: string) => string {
  return (name) => resolve(ROOT, 'services', service, name);
}
