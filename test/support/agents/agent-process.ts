import { readFileSync } from 'node:fs';

/** Whether a process has ended; one that ended and that nobody has asked about yet (a zombie) counts as gone. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // No /proc on this system, or it went this moment: the next look will tell.
    return false;
  }
}
