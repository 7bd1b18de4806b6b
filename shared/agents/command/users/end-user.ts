import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LATE, wait, within } from '../../../time/index.ts';
import { listOfUser } from '../processes/process-table.ts';
import type { CommandUser } from './command-user.ts';

const ENTRY = fileURLToPath(new URL(`end-user-main${extname(import.meta.url)}`, import.meta.url));
const POLL_MS = 10;
/** As long as a busy machine may take to start it. */
const KILLER_MS = 5000;

/**
 * Kills all that runs as the user, at most for so long, and resolves with the pids that are left. A process of the user does it, which
 * reaches those that are forked meanwhile and no other user's; only root can start one. It may be killed first: another one follows.
 */
export async function endUser({ uid, gid }: CommandUser, endMs: number): Promise<number[]> {
  const end = performance.now() + endMs;
  for (;;) {
    const left = listOfUser(uid);
    if (left.length === 0 || performance.now() >= end) return left;
    const killer = spawn(process.execPath, ['--no-warnings', ENTRY, String(uid), String(gid)], { cwd: '/', env: {}, stdio: 'ignore' });
    await ended(killer, Math.min(end, performance.now() + KILLER_MS));
    await wait(POLL_MS);
  }
}

/** Waits for the killer, which those that it should kill may stop: it goes on each time, and needs moments only. `until`: by `performance.now()`. */
async function ended(killer: ChildProcess, until: number): Promise<void> {
  const exited = once(killer, 'exit').catch(() => undefined);
  while ((await within(exited, POLL_MS)) === LATE) killer.kill(performance.now() < until ? 'SIGCONT' : 'SIGKILL');
}
