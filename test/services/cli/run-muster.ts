import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../support/test-environment.ts';

const MUSTER = fileURLToPath(new URL('../../../services/local/muster.mjs', import.meta.url));

export interface MusterResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningMuster {
  child: ChildProcess;
  ended: Promise<MusterResult>;
}

export interface RunOptions {
  env?: Record<string, string>;
  input?: string;
  /** Arguments of Node itself. */
  nodeArgs?: string[];
}

/** Starts a command as a person would, with no fleet of its own to be found. */
export function startMuster(args: string[], { env = {}, input, nodeArgs = [] }: RunOptions = {}): RunningMuster {
  const directory = mkdtempSync(join(tmpdir(), 'muster-cli-'));
  const child = spawn(process.execPath, [...nodeArgs, MUSTER, ...args], {
    env: childEnvironment({ MUSTER_DATA_DIR: directory, ...env }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input ?? '');
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(([[code], stdout, stderr]) => {
    rmSync(directory, { recursive: true, force: true });
    return { code: code as number | null, stdout, stderr };
  });
  return { child, ended };
}

/** Runs a command to its end. */
export function runMuster(args: string[], options: RunOptions = {}): Promise<MusterResult> {
  return startMuster(args, options).ended;
}
