import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { wait } from '#shared/time/index.ts';
import { isStillRunning, processStart } from './process-start.ts';
import type { RedisCommand } from './redis-program.ts';

/** How often a process that is not our child is looked at. */
const LOOK_MS = 200;

/** A running Redis: a child of ours, or one that a killed fleet left behind. */
export interface RedisProcess {
  readonly pid: number;
  readonly startedAt: string;
  /** Resolves when it is gone, however it ended. */
  readonly exited: Promise<void>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts a Redis. What it prints goes to the end of `logFile`. Throws when the program cannot be run. */
export async function spawnRedis(command: RedisCommand, logFile: string): Promise<RedisProcess> {
  const log = openSync(logFile, 'a', 0o600);
  try {
    // A process group of its own: the terminal's Ctrl-C must not stop the Redis that draining still needs.
    // Files for its output, not pipes: it has to outlive this process, should that be killed.
    const child = spawn(command.file, command.args, { detached: true, stdio: ['pipe', log, log] });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    // It may end before it has read its configuration; that shows as its exit, not as a broken pipe here.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(command.config);
    child.unref();
    const pid = child.pid ?? 0;
    return { pid, startedAt: processStart(pid) ?? '', exited, signal: (name) => child.kill(name) };
  } finally {
    closeSync(log);
  }
}

/** Takes on a process that runs already; null when it does not. */
export function adoptRedis(pid: number, seenStart?: string): RedisProcess | null {
  const startedAt = processStart(pid);
  if (startedAt === null || (seenStart !== undefined && startedAt !== seenStart)) return null;
  const seen = { pid, startedAt };
  return { ...seen, exited: untilGone(seen), signal: (name) => signalTo(seen, name) };
}

async function untilGone(seen: { pid: number; startedAt: string }): Promise<void> {
  while (isStillRunning(seen)) await wait(LOOK_MS);
}

function signalTo(seen: { pid: number; startedAt: string }, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (isStillRunning(seen)) process.kill(seen.pid, name);
  } catch {
    // Gone between the look and the signal, which is what was wanted.
  }
}
