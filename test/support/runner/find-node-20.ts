import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { childEnvironment, testEnvironment } from '../test-environment.ts';

/** The program of a Node 20 on the PATH, which is the oldest that programs use the client on; null where there is none. */
function findNode20(): string | null {
  const folders = (childEnvironment()['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return folders.map((folder) => join(folder, 'node')).find((program) => versionOf(program).startsWith('v20.')) ?? null;
}

function versionOf(program: string): string {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

const found = findNode20();

/** Whether Node 20 can be tested with here. On a CI host a missing one is a failure. */
export const hasNode20: boolean = found !== null || testEnvironment.isCi;
export const node20: string = found ?? 'node-20-is-not-on-the-path';
