import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One process of this system, as /proc has it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In ticks since the system started. Together with the pid it names one process. */
  readonly startedAt: number;
}

/** Every process that runs; none on a system without /proc. A zombie does not run. */
export function listProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => {
    const entry = readProcess(pid);
    return entry === null ? [] : [entry];
  });
}

/** Null when it does not run. */
export function readProcess(pid: number): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, in parentheses, may hold spaces and parentheses of its own.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const [parent = 0, group = 0, session = 0] = fields.slice(1, 4).map(Number);
    return { pid, parent, group, session, startedAt: Number(fields[19]) };
  } catch {
    return null;
  }
}

/** A variable of the environment that a process was started with; undefined also where it may not be read. */
export function readInitialVariable(pid: number, name: string): string | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

/** The folder that a process is in. */
export function readWorkingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A negative pid is a process group. */
export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or another user's by now.
  }
}

/** Names the set of processes whose numbers this process sees: a container has one of its own. Null without /proc. */
export function processNamespace(): string | null {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? null;
  } catch {
    return null;
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}
