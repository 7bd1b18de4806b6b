import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithParent } from '../runner/end-with-parent.ts';
import { childEnvironment } from '../test-environment.ts';
import { waitFor } from '../wait-for.ts';

/** A daemon as a process, as a person starts it. */
export interface DaemonProcess {
  readonly pid: number;
  /** What it printed so far, to either stream. */
  readonly lines: readonly string[];
  signal(name: NodeJS.Signals): void;
  /** Returns once it printed such a line, by default after `since` lines. Fails when it ended before. */
  prints(text: string, since?: number): Promise<string>;
  /** Resolves with its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

const MUSTER = fileURLToPath(new URL('../../../services/local/muster.mjs', import.meta.url));
const PYTHON_DAEMON = fileURLToPath(new URL('../../../agents/python_daemon.py', import.meta.url));
const PRINT_MS = 60_000;

interface DaemonProcessOptions {
  readonly hub: string;
  readonly token: string;
  /** Where it keeps what it has to. */
  readonly folder: string;
  /** Variables that it has besides, or does not have. */
  readonly env?: Record<string, string | undefined>;
}

/** `npx muster daemon` with these arguments besides. */
export function startMusterDaemon(args: readonly string[], { hub, token, folder, env }: DaemonProcessOptions): DaemonProcess {
  const own = { MUSTER_DAEMON_TOKEN: token, MUSTER_DATA_DIR: folder, ...env };
  return start([process.execPath, MUSTER, 'daemon', '--hub', hub, ...args], own);
}

/** The daemon in Python. */
export function startPythonDaemon(python: string, { hub, token, folder }: DaemonProcessOptions): DaemonProcess {
  const url = `${hub.replace(/^http/, 'ws')}/hub`;
  return start([python, PYTHON_DAEMON, url, join(folder, 'python')], { MUSTER_DAEMON_TOKEN: token });
}

function start([program = '', ...args]: readonly string[], env: Record<string, string | undefined>): DaemonProcess {
  const child = spawn(program, args, { env: { ...childEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  endWithParent(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    pid: child.pid ?? 0,
    lines,
    signal: (name) => void child.kill(name),
    prints: (text, since = 0) =>
      waitFor(() => lines.slice(since).find((line) => line.includes(text)), {
        deadlineMs: PRINT_MS,
        what: `the daemon to print "${text}"`,
      }).catch((cause: unknown) => {
        throw new Error(`The daemon did not print "${text}" but:\n${lines.join('\n')}`, { cause });
      }),
    ended,
  };
}
