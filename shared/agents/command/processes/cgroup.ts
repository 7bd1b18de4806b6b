import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { CommandLimits, CommandSettings } from '../../../config/index.ts';
import { listFolders, read, readField, readFolders, readLines, readNumber, readPids, removeCgroup, write } from './cgroup-files.ts';
import { wait } from '../../../time/index.ts';

/** Where attempts get cgroups of their own, or why they get none. */
export type CommandCgroups = { readonly folder: string; readonly controllers: readonly Controller[] } | { readonly problem: string };

const CONTROLLERS = ['memory', 'pids'] as const;
type Controller = (typeof CONTROLLERS)[number];

const PREFIX = 'muster-attempt-';
/** A cgroup with processes of its own gives its children no controllers, so this process moves into one of these names. */
const OWN = 'muster-self';
/** Killed processes are in their cgroup for a moment. */
const REMOVE_TRIES = 50;
const REMOVE_POLL_MS = 20;

/**
 * Finds out whether this process may make cgroups (version 2) below its own, or below the folder that `setting` names. Enables their
 * controllers of memory and processes where it may; without these a cgroup still ends everything that was started in it.
 */
export function openCgroups(setting: CommandSettings['cgroup']): CommandCgroups {
  if (setting === 'off') return { problem: 'commands.cgroup is "off"' };
  try {
    const folder = setting === 'auto' ? findOwnCgroup() : setting;
    if (folder === null) return { problem: 'this system has no cgroup of version 2' };
    const problem = findProblem(folder);
    if (problem !== null) return { problem };
    return { folder, controllers: CONTROLLERS.filter((controller) => enable(folder, controller)) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Says for operators how far the attempts of commands are bounded and ended on this machine. */
export function describeCgroups({ cgroup, pollMs }: Pick<CommandSettings, 'cgroup' | 'pollMs'>): string {
  const cgroups = openCgroups(cgroup);
  const counted = `counted every ${pollMs} ms (commands.pollMs)`;
  if ('problem' in cgroups)
    return `run without cgroups (${cgroups.problem}): they are found by what they inherit, and what they use is ${counted}`;
  const { folder, controllers } = cgroups;
  const missing = [...(controllers.includes('memory') ? [] : ['memory']), ...(controllers.includes('pids') ? [] : ['processes'])];
  const rest =
    missing.length === 0 ? 'bound their memory and processes' : `have no controller of ${missing.join(' and ')}, which are ${counted}`;
  return `run in cgroups below ${folder}, which end all that they start and ${rest}`;
}

function findOwnCgroup(): string | null {
  const mounts = readLines('/proc/self/mountinfo').map((line) => line.split(' '));
  const mount = mounts.find((fields) => fields[fields.indexOf('-') + 1] === 'cgroup2');
  const own = readLines('/proc/self/cgroup').find((line) => line.startsWith('0::/'));
  const [root, point] = [mount?.[3], mount?.[4]];
  if (root === undefined || point === undefined || own === undefined || own.includes('..')) return null;
  const path = own.slice('0::'.length);
  const folder = join(point, root !== '/' && path.startsWith(root) ? path.slice(root.length) : path);
  return basename(folder) === OWN ? dirname(folder) : folder;
}

/** Tries it: the files of a cgroup may be there and yet be read-only. */
function findProblem(folder: string): string | null {
  const probe = join(folder, `${PREFIX}probe-${process.pid}`);
  mkdirSync(probe);
  try {
    return existsSync(join(probe, 'cgroup.kill')) ? null : 'this kernel cannot kill a cgroup; Linux 5.14 can';
  } finally {
    rmdirSync(probe);
  }
}

function enable(folder: string, controller: Controller): boolean {
  const words = (file: string): string[] => read(join(folder, file)).split(/\s+/);
  if (words('cgroup.subtree_control').includes(controller)) return true;
  if (!words('cgroup.controllers').includes(controller)) return false;
  return (
    write(join(folder, 'cgroup.subtree_control'), `+${controller}`) ||
    (leave(folder) && write(join(folder, 'cgroup.subtree_control'), `+${controller}`))
  );
}

/** Moves this process into a cgroup beside those of attempts, if no other process is in the way. */
function leave(folder: string): boolean {
  const others = readPids(folder).filter((pid) => pid !== process.pid);
  if (others.length > 0) return false;
  mkdirSync(join(folder, OWN), { recursive: true });
  return write(join(folder, OWN, 'cgroup.procs'), String(process.pid));
}

/** What an attempt uses now; undefined is unknown. */
export interface AttemptUse {
  readonly memoryBytes?: number;
  readonly tasks?: number;
  readonly cpuMs?: number;
}

/** AttemptCgroup is responsible for the cgroup of one attempt: no process leaves it by detaching itself. */
export class AttemptCgroup {
  readonly path: string;
  /** Limits that the kernel enforces on it. */
  readonly enforced: readonly ('memoryMb' | 'processes')[];

  /** Throws when it cannot be made. */
  constructor({ folder, controllers }: Extract<CommandCgroups, { folder: string }>, mark: string, { memoryMb, processes }: CommandLimits) {
    this.path = join(folder, `${PREFIX}${mark}`);
    mkdirSync(this.path);
    const set = (controller: Controller, values: Readonly<Record<string, string>>): boolean =>
      controllers.includes(controller) && Object.entries(values).every(([file, value]) => write(join(this.path, file), value));
    const bytes = memoryMb === 'none' ? null : String(memoryMb * 1024 * 1024);
    const hasMemory = bytes !== null && set('memory', { 'memory.oom.group': '1', 'memory.max': bytes });
    // Only where there is swap.
    if (hasMemory) set('memory', { 'memory.swap.max': '0' });
    const hasProcesses = processes !== 'none' && set('pids', { 'pids.max': String(processes) });
    this.enforced = [...(hasMemory ? (['memoryMb'] as const) : []), ...(hasProcesses ? (['processes'] as const) : [])];
  }

  /** Moves a process into it, with what that starts from now on. */
  add(pid: number): boolean {
    return write(join(this.path, 'cgroup.procs'), String(pid));
  }

  listPids(): number[] {
    return listFolders(this.path).flatMap(readPids);
  }

  /** Sends SIGKILL to all of them at once. */
  kill(): void {
    write(join(this.path, 'cgroup.kill'), '1');
  }

  readUse(): AttemptUse {
    const memoryBytes = readNumber(join(this.path, 'memory.current'));
    const tasks = readNumber(join(this.path, 'pids.current'));
    const cpuUs = readField(join(this.path, 'cpu.stat'), 'usage_usec');
    return {
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(cpuUs === undefined ? {} : { cpuMs: cpuUs / 1000 }),
    };
  }

  /** Which limit the kernel has enforced, if any. */
  readBreach(): 'memoryMb' | 'processes' | undefined {
    if ((readField(join(this.path, 'memory.events'), 'oom_kill') ?? 0) > 0) return 'memoryMb';
    return (readField(join(this.path, 'pids.events'), 'max') ?? 0) > 0 ? 'processes' : undefined;
  }

  /** False while a process is in it. */
  remove(): boolean {
    return removeCgroup(this.path);
  }
}

/** Kills what is left in cgroups whose mark is an orphan's, and removes those that are empty. Returns how many processes it killed. */
export async function killOrphanedCgroups(cgroups: CommandCgroups, isOrphaned: (mark: string) => boolean): Promise<number> {
  if ('problem' in cgroups) return 0;
  const names = readFolders(cgroups.folder).filter((name) => name.startsWith(PREFIX) && isOrphaned(name.slice(PREFIX.length)));
  const paths = names.map((name) => join(cgroups.folder, name));
  const pids = paths.flatMap(listFolders).flatMap(readPids);
  for (const path of paths) write(join(path, 'cgroup.kill'), '1');
  for (const path of paths) for (let tries = 0; tries < REMOVE_TRIES && !removeCgroup(path); tries += 1) await wait(REMOVE_POLL_MS);
  return pids.length;
}
