import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandUser } from './start-command.ts';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The variable that marks the processes of an attempt: what they start inherits it. */
export const MARK_VARIABLE = 'MUSTER_ATTEMPT_MARK';

const SEPARATOR = '-';

/** Names one attempt, its fleet, and this process: `<fleet>-<namespace>-<pid>-<start>-<random>`. */
export function createMark(fleetId: string): string {
  const { pid } = process;
  const startedAt = readProcess(pid)?.startedAt ?? 0;
  return [fleetId, processNamespace() ?? '', pid, startedAt, randomBytes(8).toString('hex')].join(SEPARATOR);
}

/** The folders that an attempt alone may write to: working folder, HOME and TMPDIR. */
export interface AttemptFolder {
  readonly path: string;
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  /** Removes it with all that is in it. Rejects when the system refuses. */
  remove(): Promise<void>;
}

const PREFIX = 'muster-attempt-';
const REMOVE = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 } as const;

/** Makes a folder that only `user` may enter, null being the user of this process, in `parent` or the system's temporary folder. */
export async function openAttemptFolder(mark: string, user: CommandUser | null, parent = tmpdir()): Promise<AttemptFolder> {
  // As the kernel names it, because processes are found by the folder they are in.
  const path = await mkdtemp(join(await realpath(parent), `${PREFIX}${mark}-`));
  const [work, home, temporary] = [join(path, 'work'), join(path, 'home'), join(path, 'tmp')];
  const remove = (): Promise<void> => rm(path, REMOVE);
  try {
    for (const folder of [work, home, temporary]) await mkdir(folder, { mode: 0o700 });
    if (user !== null) for (const folder of [path, work, home, temporary]) await chown(folder, user.uid, user.gid);
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
  return { path, work, home, temporary, remove };
}

/**
 * Ends the processes that commands of a killed worker of this fleet left on this system, and removes their folders: a worker that gets
 * SIGKILL can do neither. Returns how many processes it ended. Never rejects.
 */
export async function endOrphanedCommands(fleetId: string, folder?: string): Promise<number> {
  const orphans = listProcesses().filter(({ pid }) => {
    const mark = pid === process.pid ? undefined : readInitialVariable(pid, MARK_VARIABLE);
    return mark !== undefined && isOrphaned(mark, fleetId);
  });
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL');
  await removeOrphanedFolders(fleetId, folder);
  return orphans.length;
}

async function removeOrphanedFolders(fleetId: string, parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const orphaned = names.filter((name) => name.startsWith(PREFIX) && isOrphaned(name.slice(PREFIX.length), fleetId));
  for (const name of orphaned) await rm(join(parent, name), REMOVE).catch(() => undefined);
}

/**
 * Whether the process of this fleet that made the mark has ended. One of another container cannot be seen from here, and counts as
 * running.
 */
function isOrphaned(mark: string, fleetId: string): boolean {
  const [fleet, namespace, pid, startedAt] = mark.split(SEPARATOR);
  if (fleet !== fleetId || namespace === '' || namespace !== (processNamespace() ?? '')) return false;
  const maker = readProcess(Number(pid));
  return maker === null || String(maker.startedAt) !== startedAt;
}

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
function processNamespace(): string | null {
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
