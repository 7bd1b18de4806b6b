import { text } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { readCliEnvironment, readNamedVariable, type CliEnvironment } from '#shared/config/index.ts';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { CliProblem, EXIT, type ExitCode } from './cli-problem.ts';
import { ApiClient } from './client/api-client.ts';
import { findServer, isElsewhere, type ServerOptions } from './client/find-server.ts';
import type { CommandContext, ContextOf } from './command-context.ts';
import type { Doctor } from './commands/fleet/doctor.ts';
import type { Run } from './run-commands.ts';
import { createProgram } from './create-program.ts';
import { type Output, plainText, Terminal } from './output/terminal.ts';

export interface RunCliOptions {
  /** The arguments after the name. */
  args: readonly string[];
  /** Runs `muster doctor`, which checks this machine. Resolves with the exit code. */
  doctor: Doctor;
  /** Runs the fleet, or a service of it, until a signal ends the process. */
  run: Run;
  /** Of this installation, such as `0.1.0`. */
  version: string;
  /** Where the command reads and writes. Defaults to the streams and the environment of this process. */
  io?: CliIo;
}

export interface CliIo {
  stdin: NodeJS.ReadableStream;
  stdout: Output;
  stderr: Output;
  /** The environment; absent means that of this process. */
  variables?: Record<string, string>;
}

/** Runs one command to its end. Resolves with the exit code, and writes what went wrong to stderr. */
export async function runCli({ args, doctor, run, version, io = process }: RunCliOptions): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  try {
    const env = readCliEnvironment(io.variables);
    const end = (code: ExitCode): void => void (exitCode = code);
    const contextOf = contextMaker(env, io, end);
    const program = createProgram({ contextOf, doctor, run, version, io });
    throwInsteadOfExit(program);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, io.stderr);
  }
}

function contextMaker(env: CliEnvironment, { stdin, stdout, stderr, variables }: CliIo, end: CommandContext['end']): ContextOf {
  const terminal = new Terminal({ stdout, stderr, noColor: env.NO_COLOR !== undefined });
  return (command) => ({
    terminal,
    clock: systemClock,
    end,
    env,
    readVariable: (name) => readNamedVariable(name, variables),
    findAddress: () => findServer({ ...command.optsWithGlobals<ServerOptions>(), key: '' }, env, process.cwd()).url,
    isElsewhere: () => isElsewhere(command.optsWithGlobals<ServerOptions>(), env, process.cwd()),
    connect: () => new ApiClient(findServer(command.optsWithGlobals<ServerOptions>(), env, process.cwd())),
    readInput: () => text(stdin),
    input: stdin,
  });
}

/** Commander would end the process itself, with the code for a failure where a command was not understood. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

function report(error: unknown, stderr: Output): ExitCode {
  // Commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliProblem) {
    const first = `muster: ${error.message}${error.code === undefined ? '' : ` [${error.code}]`}`;
    stderr.write(plainText([first, ...error.lines, ''].join('\n')));
    return error.exitCode;
  }
  const [first, ...others] = (error instanceof Error ? error.message : String(error)).split('\n');
  const code = error instanceof MusterError ? ` [${error.code}]` : '';
  stderr.write(plainText([`muster: ${first}${code}`, ...others, ''].join('\n')));
  return hasCode(error, 'config.invalid') ? EXIT.usage : EXIT.failed;
}
