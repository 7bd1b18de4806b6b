import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a process started, in the form of this system; null when it does not run or is a zombie.
 * With the pid it names one process, although pids are reused.
 */
export function processStart(pid: number): string | null {
  if (process.platform === 'linux') return startFromProc(pid);
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return text === '' || text.startsWith('Z') ? null : text.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

function startFromProc(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses, which may hold spaces and parentheses of its own.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Whether the process that was seen under this pid and start still runs. */
export function isStillRunning(seen: { pid: number; startedAt: string }): boolean {
  return processStart(seen.pid) === seen.startedAt;
}
