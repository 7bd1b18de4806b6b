import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import type { AgentRun } from './agent-runner.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import { signalProcessGroup, type ProcessGroups } from './process-groups.ts';

export interface StartOptions {
  /** The folder that a relative `cwd` starts from, and the default for it. */
  readonly directory: string;
  /** Reads a variable of this process's environment. */
  readonly readSecret: (name: string) => string | undefined;
  readonly groups: ProcessGroups;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
}

/** How a program ended: by code, by signal, or not even started. */
export interface CommandEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The system's code, such as ENOENT, when it could not be started. */
  readonly spawnCode: string | undefined;
}

/** A program in a process group of its own. */
export interface RunningCommand {
  /** Open for a program that takes input; else it has the prompt and is closed. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the program has ended; never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** SIGTERM to the group, SIGKILL after the grace; then the pipes are closed too, whoever holds their other end. */
  readonly stop: () => void;
  /** Kills what is left of the group, at once. */
  readonly finish: () => void;
}

/** What every program finds in its environment; the rest of ours, secrets above all, stays out. */
const PASSED = ['PATH', 'HOME', 'LANG'];

/** Starts the agent's program, with the prompt on its stdin unless it takes input, which is for the caller to write. */
export function startCommand(run: AgentRun<DefinitionOf<'command'>>, options: StartOptions): RunningCommand {
  const { command, cwd = '.' } = run.definition;
  const [file = '', ...args] = command;
  const child = execa(file, args, {
    cwd: resolve(options.directory, cwd),
    env: buildEnvironment(run, options.readSecret),
    extendEnv: false,
    ...(run.definition.takesInput === true ? {} : { input: run.task.input }),
    // A group of its own, because ending only the child would leave its children running, and us waiting for their pipes.
    detached: true,
    buffer: false,
    reject: false,
    stripFinalNewline: false,
  });
  const { pid, stdin, stdout, stderr, nodeChildProcess } = child;
  // A program may end, or close its stdin, before it read everything.
  stdin.on('error', () => undefined);
  const untrack = pid === undefined ? () => undefined : options.groups.track(pid);
  const kill = (signal: NodeJS.Signals): void => (pid === undefined ? undefined : signalProcessGroup(pid, signal));
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    if (timer !== undefined) return;
    kill('SIGTERM');
    timer = setTimeout(() => {
      kill('SIGKILL');
      stdout.destroy();
      stderr.destroy();
    }, options.killGraceMs);
  };
  const finish = (): void => {
    clearTimeout(timer);
    kill('SIGKILL');
    untrack();
  };
  // What the program leaves behind in its group may hold the pipes open for ever.
  nodeChildProcess.once('exit', stop);
  const ended = child.then((result) => ({
    // Without a process the exit code is the number of the system's error, and no program's.
    exitCode: pid === undefined ? undefined : (nodeChildProcess.exitCode ?? undefined),
    signal: nodeChildProcess.signalCode ?? undefined,
    spawnCode: pid === undefined ? (result.code ?? 'unknown') : undefined,
  }));
  return { stdin, stdout, stderr, ended, stop, finish };
}

function buildEnvironment(
  { task, definition, context }: AgentRun<DefinitionOf<'command'>>,
  readSecret: StartOptions['readSecret'],
): Record<string, string> {
  const passed = [...PASSED, ...(definition.passEnv ?? [])].map((name) => [name, readSecret(name)] as const);
  return {
    ...Object.fromEntries(passed.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ...definition.env,
    MUSTER_TASK_ID: task.id,
    MUSTER_ATTEMPT: String(task.attempt),
    MUSTER_TENANT: task.tenant,
    ...(task.session === null ? {} : { MUSTER_SESSION: task.session }),
    TRACEPARENT: context.trace.traceparent,
  };
}
