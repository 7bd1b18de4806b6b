import { readFileSync } from 'node:fs';

/** Whether a process has ended. A zombie counts as gone. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // This system has no /proc, or the process has just ended, which the next check sees.
    return false;
  }
}
