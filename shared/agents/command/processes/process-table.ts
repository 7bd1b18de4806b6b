import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { listByPs, readByPs } from './ps-table.ts';

/** One process of this system. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 is unknown. */
  readonly session: number;
  /** In a unit of the system's, ascending. Together with the pid it names one process. */
  readonly startedAt: number;
  /** Processor time that it and its children that have ended used, in milliseconds. */
  readonly cpuMs: number;
  readonly threads: number;
  /** Its command with the environment that it was started with, where the table has that; see `readInitialVariable`. */
  readonly command?: string;
}

const HAS_PROC = process.platform !== 'darwin';
/** Of the kernel's clock, whatever the machine. */
const TICK_MS = 10;

/** Every process that runs; a zombie does not. None on a system with neither /proc nor a `ps` that shows environments. */
export function listProcesses(): ProcessEntry[] {
  if (!HAS_PROC) return listByPs();
  return processIds().flatMap((pid) => {
    const entry = readProcess(pid);
    return entry === null ? [] : [entry];
  });
}

/** Null when it does not run. */
export function readProcess(pid: number): ProcessEntry | null {
  if (!HAS_PROC) return readByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, in parentheses, may hold spaces and parentheses of its own.
    const [state, ...numbers] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const [parent = 0, group = 0, session = 0] = numbers.map(Number);
    const cpuTicks = numbers.slice(10, 14).reduce((sum, ticks) => sum + Number(ticks), 0);
    return { pid, parent, group, session, startedAt: Number(numbers[18]), cpuMs: cpuTicks * TICK_MS, threads: Number(numbers[16]) };
  } catch {
    return null;
  }
}

/** Memory that it shares with no file, in bytes; 0 where that is unknown. */
export function readMemory(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** What is read of a process at most once for each table, by however many attempts look for theirs in it. */
interface Origin {
  readonly environment: string;
  readonly folder: string;
}

const ORIGINS = new WeakMap<ProcessEntry, Origin>();

/** A variable of the environment that a process was started with; undefined also where it may not be read. */
export function readInitialVariable(entry: ProcessEntry, name: string): string | undefined {
  if (entry.command !== undefined) return new RegExp(` ${name}=(\\S*)`).exec(entry.command)?.[1];
  const entries = originOf(entry).environment.split('\0');
  return entries.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The user who started a process, which no program of theirs can change. Undefined where that is unknown, as of one that has ended. */
export function readUser(pid: number): number | undefined {
  const status = orEmpty(() => readFileSync(`/proc/${pid}/status`, 'latin1'));
  const real = /^State:\s+[ZX]/m.test(status) ? undefined : /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return real === undefined ? undefined : Number(real);
}

/** The pids of all that a user has started and that runs. */
export function listOfUser(uid: number): number[] {
  return processIds().filter((pid) => readUser(pid) === uid);
}

/** The folder that a process is in; empty where that is unknown. */
export function readWorkingFolder(entry: ProcessEntry): string {
  return originOf(entry).folder;
}

function originOf(entry: ProcessEntry): Origin {
  const known = ORIGINS.get(entry);
  if (known !== undefined) return known;
  const found = {
    environment: orEmpty(() => readFileSync(`/proc/${entry.pid}/environ`, 'utf8')),
    folder: orEmpty(() => readlinkSync(`/proc/${entry.pid}/cwd`)),
  };
  ORIGINS.set(entry, found);
  return found;
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
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

/** Names the set of processes whose numbers this process sees: a container has one of its own. Null where that is unknown. */
export function processNamespace(): string | null {
  if (!HAS_PROC) return 'host';
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
