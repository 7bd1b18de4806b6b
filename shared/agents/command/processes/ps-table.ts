import { execFileSync } from 'node:child_process';
import type { ProcessEntry } from './process-table.ts';

/** Without titles. The start is 24 characters wide; the command comes last, because it has spaces, and the environment follows it. */
const COLUMNS = 'pid=,ppid=,pgid=,lstart=,command=';
const OPTIONS = process.platform === 'darwin' ? ['-E', '-ww', '-o', COLUMNS] : ['eww', '-o', COLUMNS];
const MAX_BYTES = 64 * 1024 * 1024;

const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s(.*)$/;

/** Every process, as `ps` of macOS lists them with their environments. It leaves out those of programs that the system protects. */
export function listByPs(): ProcessEntry[] {
  return runPs(process.platform === 'darwin' ? ['-A', ...OPTIONS] : ['ax', ...OPTIONS]);
}

export function readByPs(pid: number): ProcessEntry | null {
  return runPs([...OPTIONS, '-p', String(pid)])[0] ?? null;
}

function runPs(options: readonly string[]): ProcessEntry[] {
  try {
    const text = execFileSync('ps', options, {
      encoding: 'utf8',
      maxBuffer: MAX_BYTES,
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').flatMap(parseLine);
  } catch {
    return [];
  }
}

function parseLine(line: string): ProcessEntry[] {
  const [, pid, parent, group, start = '', command = ''] = LINE.exec(line) ?? [];
  if (pid === undefined || command.endsWith('<defunct>') || command === '(zombie)') return [];
  const startedAt = Date.parse(start);
  return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startedAt, cpuMs: 0, threads: 1, command }];
}
