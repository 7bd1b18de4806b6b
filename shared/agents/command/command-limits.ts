import type { CommandLimits, CommandSettings } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { AttemptUse } from './processes/cgroup.ts';
import type { CommandRun } from './command-run.ts';

export type Limit = keyof CommandLimits;

/** Those of the configuration, with an agent's own in their place. */
export function limitsOf({ limits: own = {} }: CommandRun['definition'], { limits }: Pick<CommandSettings, 'limits'>): CommandLimits {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...limits, ...(Object.fromEntries(given) as Partial<CommandLimits>) };
}

/** Where only polls count, what grows faster than they come is stopped at so many times the limit. */
const PROCESSES_FACTOR = 16;
const MEMORY_FACTOR = 2;
/** Node and the like map that much before they use it. */
const MAPPED_MB = 1024;
/** After SIGXCPU a process has so many seconds to end. */
const CPU_GRACE_SECONDS = 5;

interface Prelude {
  readonly limits: CommandLimits;
  /** The program waits for a line on descriptor 3. */
  readonly waits: boolean;
  /** Limits that a cgroup enforces. */
  readonly enforced: readonly Limit[];
  /** Descriptors of this process's parents, which the program would get. */
  readonly inherited: readonly number[];
  /** Words that the program is started with in front of its own. */
  readonly wrapper: readonly string[];
}

/**
 * What /bin/sh runs in place of the program before it becomes the program: it sets limits of the process (rlimits), which all that it
 * starts inherit. Null when there is nothing to do. A limit that the system keeps lower already stays.
 */
export function buildPrelude({ limits, waits, enforced, inherited, wrapper }: Prelude): string | null {
  const { memoryMb, processes, openFiles, fileMb, cpuSeconds } = limits;
  const set = (limit: Limit, command: (value: number) => string): string[] => {
    const value = limits[limit];
    return value === 'none' || enforced.includes(limit) ? [] : [command(value)];
  };
  const lines = [
    ...(waits ? ['read -r go <&3 || exit 125', 'exec 3<&-'] : []),
    ...inherited.map((descriptor) => `exec ${descriptor}>&-`),
    ...set('openFiles', (count) => ulimit(`-n ${count}`)),
    // In blocks of 512 bytes.
    ...set('fileMb', (mb) => ulimit(`-f ${mb * 2048}`)),
    // Memory of one process that it may write to, used or not; address space that it only reserves does not count.
    ...set('memoryMb', (mb) => ulimit(`-d ${(mb * MEMORY_FACTOR + MAPPED_MB) * 1024}`)),
    // Counts all processes of the user, so it is no limit of an attempt. Some shells call it -p.
    ...set('processes', (count) => `${ulimit(`-u ${count * PROCESSES_FACTOR}`)} || ${ulimit(`-p ${count * PROCESSES_FACTOR}`)}`),
    ...set('cpuSeconds', (seconds) => `${ulimit(`-S -t ${seconds}`)}; ${ulimit(`-H -t ${seconds + CPU_GRACE_SECONDS}`)}`),
  ];
  const isUnlimited = [memoryMb, processes, openFiles, fileMb, cpuSeconds].every((value) => value === 'none');
  if (isUnlimited && !waits && inherited.length === 0 && wrapper.length === 0) return null;
  return [...lines, ulimit('-c 0'), ['exec', ...wrapper, '"$@"'].join(' ')].join('\n');
}

function ulimit(words: string): string {
  return `ulimit ${words} 2>/dev/null`;
}

/** The limit that an attempt has passed, if any. */
export function findBreach(
  { memoryBytes = 0, tasks = 0, cpuMs = 0 }: AttemptUse,
  { memoryMb, processes, cpuSeconds }: CommandLimits,
): Limit | undefined {
  if (memoryMb !== 'none' && memoryBytes > memoryMb * 1024 * 1024) return 'memoryMb';
  if (processes !== 'none' && tasks > processes) return 'processes';
  return cpuSeconds !== 'none' && cpuMs > cpuSeconds * 1000 ? 'cpuSeconds' : undefined;
}

/** The kernel's own signals say which limit of a process was passed; a shell adds 128 to their numbers. */
const LIMIT_BY_END: Readonly<Record<string, Limit>> = { SIGXCPU: 'cpuSeconds', 152: 'cpuSeconds', SIGXFSZ: 'fileMb', 153: 'fileMb' };

export function limitOfEnd({ exitCode, signal }: { exitCode: number | undefined; signal: string | undefined }): Limit | undefined {
  return LIMIT_BY_END[String(exitCode ?? signal)];
}

const TITLES: Readonly<Record<Limit, (value: number) => string>> = {
  memoryMb: (value) => `${value} MiB of memory`,
  processes: (value) => `${value} processes and threads`,
  openFiles: (value) => `${value} open files`,
  fileMb: (value) => `${value} MiB in one file`,
  cpuSeconds: (value) => `${value} s of processor time`,
};

export function limitFailure(program: string, limit: Limit, limits: CommandLimits): TaskFailure {
  const allowed = limits[limit];
  const shown = allowed === 'none' ? limit : TITLES[limit](allowed);
  return new TaskFailure('COMMAND_FAILED', `"${program}" may use ${shown} (limits.${limit}), and wanted more`, {
    details: { limit, allowed },
  });
}
