import type { Readable, Writable } from 'node:stream';
import type { CommandLimits } from '../../../config/index.ts';
import { AttemptProcesses } from '../processes/attempt-processes.ts';
import { AttemptCgroup, type CommandCgroups } from '../processes/cgroup.ts';
import { findBreach, type Limit } from '../command-limits.ts';
import type { CommandOptions, CommandPlace, CommandRun } from '../command-run.ts';
import { type CommandEnd, planCommand, spawnCommand } from './spawn-command.ts';

/** A program in a process group and a session of its own. */
export interface RunningCommand {
  /** Open for a program that takes input; else it has the prompt and is closed. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the program has ended; never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** The limit for which it was killed, if any. */
  readonly breach: () => Limit | undefined;
  /** SIGTERM to all that it started, SIGKILL after the grace; then the pipes are closed too, even if another process holds their other end. */
  readonly stop: () => void;
  /** Kills all that it started and that still runs. Resolves with the pids of what could not be killed in time. */
  readonly finish: () => Promise<number[]>;
}

/** Starts the agent's program, with the prompt on its stdin or among its arguments; to a program that takes input the caller writes it. */
export async function startCommand(run: CommandRun, options: CommandOptions, place: CommandPlace): Promise<RunningCommand> {
  const plan = await planCommand(run, options, place);
  const { limits } = plan;
  await place.folder.handOver();
  const cgroup = openCgroup(run, options.cgroups, { mark: place.mark, limits });
  const { pid, stdin, stdout, stderr, ended, onExit } = await spawnCommand(plan, cgroup);
  const processes = pid === undefined ? undefined : new AttemptProcesses({ ...place, leader: pid, folder: place.folder.path, cgroup });
  let timer: NodeJS.Timeout | undefined;
  let breach: Limit | undefined;
  const stop = (): void => {
    if (timer !== undefined) return;
    processes?.signal('SIGTERM');
    timer = setTimeout(() => {
      processes?.signal('SIGKILL');
      stdout.destroy();
      stderr.destroy();
    }, options.settings.killGraceMs);
  };
  const untrack =
    processes &&
    options.running.track(processes, (use) => {
      breach ??= findBreach(use, limits);
      if (breach !== undefined) processes.signal('SIGKILL');
    });
  const finish = async (): Promise<number[]> => {
    clearTimeout(timer);
    const left = (await processes?.kill(options.settings.endMs)) ?? [];
    untrack?.();
    return [...left, ...((await place.user?.end(options.settings.endMs)) ?? [])];
  };
  // What the program leaves behind may hold the pipes open.
  onExit(stop);
  return { stdin, stdout, stderr, ended, breach: () => breach ?? cgroup?.readBreach(), stop, finish };
}

/** Undefined where there can be none: limits and ends then go without it. */
function openCgroup(
  { context }: CommandRun,
  cgroups: CommandCgroups,
  own: { mark: string; limits: CommandLimits },
): AttemptCgroup | undefined {
  if ('problem' in cgroups) return undefined;
  try {
    return new AttemptCgroup(cgroups, own.mark, own.limits);
  } catch (error) {
    context.log.warn({ event: 'command.cgroup-refused', err: error }, 'an attempt goes without a cgroup of its own');
    return undefined;
  }
}
