import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { wait } from '#shared/time/index.ts';
import { isStillRunning, processStart } from '../fleet/process-start.ts';
import type { LocalRedisAddress, RedisCommand } from './redis-program.ts';

/** Between two checks of a process that is no child of this one. */
const POLL_MS = 200;

/** A running Redis: a child of this process, or the orphan of a killed fleet. */
export interface RedisProcess {
  readonly pid: number;
  readonly startedAt: string;
  /** Resolves when it has ended. */
  readonly exited: Promise<void>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts a Redis and appends its output to `logFile`. Throws when the program cannot be run. */
export async function spawnRedis(command: RedisCommand, logFile: string): Promise<RedisProcess> {
  const log = openSync(logFile, 'a', 0o600);
  try {
    // Its own process group, because Ctrl-C in the terminal must not stop the Redis that draining still needs.
    // Files for its output instead of pipes, because it outlives this process when that is killed.
    const child = spawn(command.file, command.args, { detached: true, stdio: ['pipe', log, log] });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    // When it ends before it has read its configuration, its exit shows that, and the broken pipe is no error.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(command.config);
    child.unref();
    const pid = child.pid ?? 0;
    return { pid, startedAt: processStart(pid) ?? '', exited, signal: (name) => child.kill(name) };
  } finally {
    closeSync(log);
  }
}

/** Adopts a running process; null when it does not run. */
export function adoptRedis(pid: number, seenStart?: string): RedisProcess | null {
  const startedAt = processStart(pid);
  if (startedAt === null || (seenStart !== undefined && startedAt !== seenStart)) return null;
  const seen = { pid, startedAt };
  return { ...seen, exited: untilGone(seen), signal: (name) => signalTo(seen, name) };
}

async function untilGone(seen: { pid: number; startedAt: string }): Promise<void> {
  while (isStillRunning(seen)) await wait(POLL_MS);
}

function signalTo(seen: { pid: number; startedAt: string }, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (isStillRunning(seen)) process.kill(seen.pid, name);
  } catch {
    // It ended between the check and the signal.
  }
}

interface RedisProbe {
  /** `loading`: it reads its data and will answer later; `silent`: no Redis of a fleet answers there. */
  state: 'ready' | 'loading' | 'silent';
  /** The process that it reports. */
  pid: number | null;
}

/** Probes a Redis that may not exist; never throws. */
export async function probeRedis(address: LocalRedisAddress, timeoutMs = 1000): Promise<RedisProbe> {
  const answer = await request(address, timeoutMs);
  const pid = /^process_id:(\d+)/m.exec(answer)?.[1];
  return { state: stateOf(answer), pid: pid === undefined ? null : Number(pid) };
}

/** Refusals of a Redis that is up; the fleet waits for their end. */
const UP = /\+PONG|^-(?:MISCONF|OOM|BUSY|NOREPLICAS|MASTERDOWN|READONLY) /m;

function stateOf(answer: string): RedisProbe['state'] {
  if (UP.test(answer)) return 'ready';
  return answer.includes('-LOADING') ? 'loading' : 'silent';
}

/** Each probe is one connection without retries, unlike that of a client library. Empty when nothing answers. */
function request(address: LocalRedisAddress, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(address.kind === 'socket' ? { path: address.path } : { host: '127.0.0.1', port: address.port });
    let answer = '';
    socket.setEncoding('utf8');
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on('connect', () =>
      socket.write(`${address.kind === 'port' ? `AUTH ${address.password}\r\n` : ''}INFO server\r\nPING\r\nQUIT\r\n`),
    );
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(answer));
  });
}
