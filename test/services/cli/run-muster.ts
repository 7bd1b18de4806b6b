import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCli, type RunCliOptions } from '../../../services/cli/run-cli.ts';
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

interface ProcessOptions {
  env?: Record<string, string>;
  /** Arguments of Node itself. */
  nodeArgs?: string[];
}

/** Starts a command as a process, as a person would, for what only a process shows: signals, pipes and the version of Node. */
export function startMuster(args: string[], { env = {}, nodeArgs = [] }: ProcessOptions = {}): RunningMuster {
  const { directory, variables } = emptyHome(env);
  const child = spawn(process.execPath, [...nodeArgs, MUSTER, ...args], { env: variables, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(([[code], stdout, stderr]) => {
    rmSync(directory, { recursive: true, force: true });
    return { code: code as number | null, stdout, stderr };
  });
  return { child, ended };
}

export interface RunOptions {
  /** What the commands do that are the fleet itself, or about a backup of it. */
  run?: RunCliOptions['run'];
  env?: Record<string, string>;
  /** The text on standard input. */
  input?: string;
  /** The width of a terminal that reads stdout; absent means that a pipe does. */
  columns?: number;
}

/** Runs a command to its end in this process: starting a process takes seconds on a busy machine. */
export async function runMuster(
  args: string[],
  { env = {}, input = '', columns, run = () => Promise.resolve() }: RunOptions = {},
): Promise<MusterResult> {
  const { directory, variables } = emptyHome(env);
  const stdout = columns === undefined ? new PassThrough() : Object.assign(new PassThrough(), { isTTY: true, columns });
  const stderr = new PassThrough();
  const written = Promise.all([text(stdout), text(stderr)]);
  const io = { stdin: Readable.from([input]), stdout, stderr, variables };
  const code = await runCli({ args, io, version: '0.0.0', doctor, run });
  stdout.end();
  stderr.end();
  rmSync(directory, { recursive: true, force: true });
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** Writes what is found by the API, without a check of this machine. */
async function doctor({ json, out, findChecks, findAttention }: Parameters<RunCliOptions['doctor']>[0]): Promise<0> {
  const found = [...((await findChecks()) ?? []), ...(await findAttention())];
  out.write(json ? JSON.stringify({ json, found }) : found.map(({ name, state, detail }) => `  ${state}  ${name}  ${detail}\n`).join(''));
  return 0;
}

/** An environment in which no fleet of this machine can be found, unless `env` names one. */
function emptyHome(env: Record<string, string>): { directory: string; variables: Record<string, string> } {
  const directory = mkdtempSync(join(tmpdir(), 'muster-cli-'));
  return { directory, variables: childEnvironment({ MUSTER_DATA_DIR: directory, ...env }) };
}
