import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithParent } from '../runner/end-with-parent.ts';
import { childEnvironment } from '../test-environment.ts';
import { waitFor } from '../wait-for.ts';

export type ServiceName = 'api' | 'chat' | 'hub' | 'webhooks' | 'dashboard' | 'scheduler' | 'worker';

/** One line of a service's log. */
export interface LogLine {
  event?: string;
  msg?: string;
  port?: number;
  task?: string;
  [field: string]: unknown;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A service as a process of its own, as an operator starts it. */
export interface ServiceProcess {
  readonly pid: number;
  /** Where its HTTP server is. */
  readonly url: string;
  /** What it logged so far. */
  readonly lines: readonly LogLine[];
  /** Sends a signal, by default SIGKILL; returns once the process is gone when the signal is SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** How it ended. */
  readonly exited: Promise<Exit>;
}

/** On a machine with much to do. */
const START_MS = 90_000;
/** The sources run as they are; the package has them compiled. */
const mainOf = (service: ServiceName, packed: string | undefined): string =>
  packed === undefined
    ? resolve(import.meta.dirname, '../../../services', service, 'main.ts')
    : resolve(packed, 'services', service, 'main.js');

export interface ServiceProcessOptions {
  service: ServiceName;
  cwd: string;
  env: Record<string, string>;
  /** The folder of the package, to run that instead of the sources. */
  packed?: string | undefined;
}

/** Starts `node services/<service>/main.ts` and returns once it says that it is ready. It does not outlive this process. */
export async function startServiceProcess({ service, cwd, env, packed }: ServiceProcessOptions): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [mainOf(service, packed)], { cwd, env: childEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] });
  endWithParent(child);
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code: code as Exit['code'], signal: signal as Exit['signal'] }));
  const lines: LogLine[] = [];
  const { stdout, stderr } = child;
  createInterface({ input: stdout }).on('line', (line) => lines.push(parseLine(line)));
  createInterface({ input: stderr }).on('line', (line) => lines.push({ msg: line }));
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal);
    if (signal === 'SIGKILL') await exited;
  };
  try {
    const ready = await waitFor(() => readyLine(child, lines), { deadlineMs: START_MS, what: `the service ${service} to be ready` });
    return { pid: child.pid ?? 0, url: `http://127.0.0.1:${ready.port}`, lines, kill, exited };
  } catch (error) {
    await kill();
    throw new Error(`The service ${service} did not start:\n${lines.map((line) => JSON.stringify(line)).join('\n')}`, { cause: error });
  }
}

function readyLine(child: ChildProcess, lines: LogLine[]): LogLine | undefined {
  const ready = lines.find(({ event }) => event === 'service.ready');
  // One that ended will never be: no need to wait for it.
  return ready ?? (child.exitCode === null ? undefined : { port: 0 });
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { msg: line };
  }
}
