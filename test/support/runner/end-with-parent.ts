import { spawn, type ChildProcess } from 'node:child_process';

/** Waits for the end of the pipe that its parent holds. What ends the parent by a signal reaches it too, and must not end it before. */
const WATCH = `trap '' INT TERM HUP; read -r _; kill -9 "$1" 2> /dev/null; [ -z "$2" ] || rm -rf "$2"`;

/**
 * Kills a child of this process when this one ends, in whichever way, and removes `folder` then: a process that is ended by a signal, as Vitest
 * ends a worker that does not answer, runs no `exit` handlers.
 */
export function endWithParent(child: ChildProcess, folder = ''): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const watcher = spawn('/bin/sh', ['-c', WATCH, 'sh', String(child.pid), folder], { stdio: ['pipe', 'ignore', 'ignore'] });
  // Neither keeps this process alive.
  watcher.unref();
  for (const stream of watcher.stdio) if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  watcher.stdin.on('error', () => undefined);
  child.once('exit', () => watcher.kill('SIGKILL'));
}
