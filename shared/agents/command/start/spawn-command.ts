import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { CommandLimits } from '../../../config/index.ts';
import { TaskFailure } from '../../../errors/index.ts';
import type { AttemptCgroup } from '../processes/cgroup.ts';
import { buildEnvironment } from './command-environment.ts';
import { buildPrelude, limitsOf } from '../command-limits.ts';
import { buildCommandLine, type CommandLine, sandboxOf, serverOf } from './command-line.ts';
import type { CommandOptions, CommandPlace, CommandRun } from '../command-run.ts';
import type { CommandUser } from '../users/command-user.ts';
import { findCwd } from './find-cwd.ts';
import { listInherited, shellFor } from './inherited-files.ts';
import { findProgramProblem } from './program-file.ts';
import { noNewPrivileges } from '../users/no-new-privileges.ts';

/** What is started for one attempt, and how. */
export interface CommandPlan extends Pick<CommandLine, 'file' | 'args'> {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null for the user of this process. */
  readonly user: CommandUser | null;
  /** What is on its stdin before that is closed; undefined for a stdin that stays open. */
  readonly input: string | undefined;
  readonly limits: CommandLimits;
}

/** Throws what `startFailure` makes of a program that is not there, which a shell that sets limits first could not say as well. */
export async function planCommand(
  run: CommandRun,
  { directory, variables, settings }: CommandOptions,
  place: CommandPlace,
): Promise<CommandPlan> {
  const { cwd: own, takesInput = false } = run.definition;
  const staysOpen = takesInput || serverOf(run.definition) !== undefined;
  const base = resolve(directory, own ?? '.');
  const cwd = findCwd(run.definition, { directory }, place);
  const env = buildEnvironment(run, variables, place);
  const linePlace = { ...place, base, cwd, variables: Object.keys(env) };
  const { file, args, hasPrompt } = await buildCommandLine(run, sandboxOf(run.definition, settings), linePlace);
  const problem = await findProgramProblem(file, cwd, env['PATH'] ?? '');
  if (problem !== null) throw startFailure(file, problem);
  const prompt = hasPrompt ? '' : run.task.input;
  return { file, args, cwd, env, user: place.user, input: staysOpen ? undefined : prompt, limits: limitsOf(run.definition, settings) };
}

/** How a program ended: by code, by signal, or not even started. */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The system's code, such as ENOENT, when it could not be started. */
  readonly spawnCode: string | undefined;
}

interface SpawnedCommand {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<CommandEnd>;
  /** Calls it when the program has ended, though its pipes may still be open. */
  readonly onExit: (listener: () => void) => void;
}

/** Starts it in the cgroup, if there is one, and under its limits. */
export async function spawnCommand(plan: CommandPlan, cgroup: AttemptCgroup | undefined): Promise<SpawnedCommand> {
  // Only workers with command agents use it, and loading it takes a tenth of the start of a process.
  const { execa } = await import('execa');
  const { cwd, env, input } = plan;
  const { file, args } = withPrelude(plan, cgroup);
  const child = execa(file, args, {
    cwd,
    env,
    ...(plan.user === null ? {} : { uid: plan.user.uid, gid: plan.user.gid }),
    extendEnv: false,
    ...(input === undefined ? {} : { input }),
    ...(cgroup === undefined ? {} : { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] as const }),
    // A group and a session of its own, because ending only the child would leave its children running, and us waiting for their pipes.
    detached: true,
    buffer: false,
    reject: false,
    stripFinalNewline: false,
  });
  const { pid, stdin, stdout, stderr, nodeChildProcess } = child;
  // A program may end, or close its stdin, before it read everything.
  stdin.on('error', () => undefined);
  if (pid === undefined) cgroup?.remove();
  else cgroup?.add(pid);
  releaseGate(nodeChildProcess);
  const ended = child.then((result) => ({
    // Without a process the exit code is the number of the system's error, and no program's.
    exitCode: pid === undefined ? undefined : (nodeChildProcess.exitCode ?? undefined),
    signal: nodeChildProcess.signalCode ?? undefined,
    spawnCode: pid === undefined ? (result.code ?? 'unknown') : undefined,
  }));
  return { pid, stdin, stdout, stderr, ended, onExit: (listener) => nodeChildProcess.once('exit', listener) };
}

/** Has a shell set the limits and then become the program. */
function withPrelude({ file, args, limits, user }: CommandPlan, cgroup: AttemptCgroup | undefined): Pick<CommandPlan, 'file' | 'args'> {
  const inherited = listInherited();
  const wrapper = user === null ? [] : noNewPrivileges();
  const prelude = buildPrelude({ limits, waits: cgroup !== undefined, enforced: cgroup?.enforced ?? [], inherited, wrapper });
  if (prelude === null) return { file, args };
  const [shell = '/bin/sh', ...options] = shellFor(inherited);
  return { file: shell, args: [...options, '-c', prelude, 'sh', file, ...args] };
}

/** The program begins once it is in its cgroup; where it could not be put there, it begins all the same. */
function releaseGate({ stdio }: Pick<ChildProcess, 'stdio'>): void {
  const gate = stdio[3];
  if (!(gate instanceof Socket)) return;
  // A program that has ended already reads nothing.
  gate.on('error', () => undefined);
  gate.end('\n', () => gate.destroy());
}

/** Failures to start that no retry repairs. */
const CODE_BY_SPAWN: Readonly<Record<string, string>> = {
  ENOENT: 'RESOURCE_NOT_FOUND',
  ENOTDIR: 'RESOURCE_NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  E2BIG: 'INVALID_INPUT',
};

export function startFailure(program: string, reason: string): TaskFailure {
  return new TaskFailure(CODE_BY_SPAWN[reason] ?? 'COMMAND_FAILED', `"${program}" could not be started: ${reason}`, {
    details: { reason },
  });
}
