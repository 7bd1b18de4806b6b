import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import type { AgentContext, CommandSettings } from '../../config/index.ts';
import type { AgentEnvironment, AgentRun, AgentRunnersOptions, DefinitionOf } from '../agent-kind.ts';
import type { AttemptFolder } from './attempt-folder.ts';
import { buildCommandLine, presetOf } from './command-line.ts';
import { MARK_VARIABLE } from './attempt-mark.ts';
import { AttemptProcesses, type RunningCommands } from './attempt-processes.ts';

/** What a command needs of an attempt. */
export interface CommandRun extends Pick<AgentRun<DefinitionOf<'command'>>, 'task' | 'definition' | 'inputArrived' | 'diagnose' | 'files'> {
  readonly context: Pick<AgentContext, 'signal' | 'write' | 'progress' | 'reportUsage' | 'input' | 'log' | 'trace'>;
}

export interface CommandOptions {
  /** The folder that a relative `cwd` starts from, and the default for it. */
  readonly directory: string;
  /** The variables of this process that the program gets. */
  readonly variables: Readonly<Record<string, string>>;
  readonly running: RunningCommands;
  readonly fleetId: AgentRunnersOptions['fleetId'];
  readonly settings: CommandSettings;
  /** Who programs run as; null for the user of this process. */
  readonly user: CommandUser | null;
}

/** Of one attempt: the mark of its processes, and where it may write. */
export interface CommandPlace {
  readonly mark: string;
  readonly folder: AttemptFolder;
}

/** How a program ended: by code, by signal, or not even started. */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The system's code, such as ENOENT, when it could not be started. */
  readonly spawnCode: string | undefined;
}

/** A program in a process group and a session of its own. */
export interface RunningCommand {
  /** Open for a program that takes input; else it has the prompt and is closed. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the program has ended; never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** SIGTERM to all that it started, SIGKILL after the grace; then the pipes are closed too, even if another process holds their other end. */
  readonly stop: () => void;
  /** Kills all that it started and that still runs. Resolves with the pids of what could not be killed in time. */
  readonly finish: () => Promise<number[]>;
}

/** Starts the agent's program, with the prompt on its stdin or among its arguments; to a program that takes input the caller writes it. */
export async function startCommand(run: CommandRun, options: CommandOptions, place: CommandPlace): Promise<RunningCommand> {
  const { cwd, takesInput = false } = run.definition;
  const base = resolve(options.directory, cwd ?? '.');
  const line = await buildCommandLine(run, { base, folder: place.folder, user: options.user });
  const child = execa(line.file, line.args, {
    cwd: cwd === undefined ? place.folder.work : base,
    env: buildEnvironment(run, options.variables, place),
    ...options.user,
    extendEnv: false,
    ...(takesInput ? {} : { input: line.hasPrompt ? '' : run.task.input }),
    // A group and a session of its own, because ending only the child would leave its children running, and us waiting for their pipes.
    detached: true,
    buffer: false,
    reject: false,
    stripFinalNewline: false,
  });
  const { pid, stdin, stdout, stderr, nodeChildProcess } = child;
  // A program may end, or close its stdin, before it read everything.
  stdin.on('error', () => undefined);
  const processes = pid === undefined ? undefined : new AttemptProcesses({ mark: place.mark, leader: pid, folder: place.folder.path });
  const untrack = processes && options.running.track(processes);
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    if (timer !== undefined) return;
    processes?.signal('SIGTERM');
    timer = setTimeout(() => {
      processes?.signal('SIGKILL');
      stdout.destroy();
      stderr.destroy();
    }, options.settings.killGraceMs);
  };
  const finish = async (): Promise<number[]> => {
    clearTimeout(timer);
    const left = await processes?.kill(options.settings.endMs);
    untrack?.();
    return left ?? [];
  };
  // What the program leaves behind may hold the pipes open.
  nodeChildProcess.once('exit', stop);
  const ended = child.then((result) => ({
    // Without a process the exit code is the number of the system's error, and no program's.
    exitCode: pid === undefined ? undefined : (nodeChildProcess.exitCode ?? undefined),
    signal: nodeChildProcess.signalCode ?? undefined,
    spawnCode: pid === undefined ? (result.code ?? 'unknown') : undefined,
  }));
  return { stdin, stdout, stderr, ended, stop, finish };
}

/** Variables that every program inherits. The others, secrets above all, stay out of its environment. */
const PASSED = ['PATH', 'LANG'];

/** The variables of this process that a definition passes on and that are set. */
export function readVariables(
  { passEnv = [] }: DefinitionOf<'command'>,
  readSecret: AgentEnvironment['readSecret'],
): Record<string, string> {
  const passed = [...PASSED, ...passEnv].map((name) => [name, readSecret(name)] as const);
  return Object.fromEntries(passed.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function buildEnvironment(
  { task, definition, context }: CommandRun,
  variables: CommandOptions['variables'],
  { mark, folder }: CommandPlace,
): Record<string, string> {
  return {
    HOME: folder.home,
    TMPDIR: folder.temporary,
    ...presetOf(definition)?.env,
    ...variables,
    ...definition.env,
    [MARK_VARIABLE]: mark,
    MUSTER_TASK_ID: task.id,
    MUSTER_ATTEMPT: String(task.attempt),
    MUSTER_TENANT: task.tenant,
    MUSTER_IN_DIR: folder.in,
    MUSTER_OUT_DIR: folder.out,
    ...(task.session === null ? {} : { MUSTER_SESSION: task.session }),
    TRACEPARENT: context.trace.traceparent,
  };
}

/** A user of the system other than this process's. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` on Linux and, unlike names, the same in every container. */
const NOBODY = 65_534;

/** Who programs run as: null for the user of this process, which is `ownUid`. */
export function commandUser({ uid, gid }: Pick<CommandSettings, 'uid' | 'gid'>, ownUid = process.getuid?.()): CommandUser | null {
  const wanted = uid ?? (ownUid === 0 ? NOBODY : 'own');
  return wanted === 'own' || wanted === ownUid ? null : { uid: wanted, gid: gid ?? wanted };
}

/** Why programs cannot be run as that user; null when they can. */
export function commandUserProblem(user: CommandUser | null, ownUid = process.getuid?.()): string | null {
  if (user === null || ownUid === 0) return null;
  return `commands.uid (MUSTER_COMMAND_UID) is ${user.uid}, and only root can start programs as another user than its own (${ownUid ?? 'none here'})`;
}
