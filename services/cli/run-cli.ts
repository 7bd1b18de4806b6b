import { text } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { readCliEnvironment, type CliEnvironment } from '#shared/config/index.ts';
import { hasCode } from '#shared/errors/index.ts';
import { ApiClient } from './api-client.ts';
import { CliProblem } from './cli-problem.ts';
import { createProgram } from './create-program.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findServer, type ServerOptions } from './find-server.ts';
import { plainText } from './plain-text.ts';
import type { RunContext } from './run-context.ts';
import { Terminal } from './terminal.ts';

export interface RunCliOptions {
  /** What was typed after the name. */
  args: readonly string[];
  /** `muster doctor`, which looks at this machine and not at the API. Resolves with the exit code. */
  doctor: () => Promise<ExitCode>;
  /** Of this installation, such as `0.1.0`. */
  version: string;
}

/** Runs one command of the command line to its end. Resolves with the exit code; says on stderr what went wrong. */
export async function runCli({ args, doctor, version }: RunCliOptions): Promise<ExitCode> {
  // The reader of a pipe may leave early (`muster tasks | head -1`), which is no failure of ours.
  process.stdout.on('error', () => process.exit(EXIT.ok));
  let exitCode: ExitCode = EXIT.ok;
  try {
    const env = readCliEnvironment();
    const terminal = new Terminal({ stdout: process.stdout, stderr: process.stderr, noColor: env.NO_COLOR !== undefined });
    const end = (code: ExitCode): void => void (exitCode = code);
    const program = createProgram({ contextOf: (command) => createContext(command, { env, terminal, end }), doctor, version });
    throwInsteadOfExit(program);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

function createContext(
  command: Command,
  { env, terminal, end }: { env: CliEnvironment } & Pick<RunContext, 'terminal' | 'end'>,
): RunContext {
  return {
    terminal,
    end,
    connect: () => new ApiClient(findServer(command.optsWithGlobals<ServerOptions>(), env, process.cwd())),
    readInput: () => text(process.stdin),
  };
}

/** Commander would end the process itself, with a code that says "failed" for what was not understood. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) throwInsteadOfExit(inner);
}

function report(error: unknown): ExitCode {
  // Commander has said what it had to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof CliProblem) {
    const first = `muster: ${error.message}${error.code === undefined ? '' : ` [${error.code}]`}`;
    process.stderr.write(plainText([first, ...error.lines, ''].join('\n')));
    return error.exitCode;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(plainText(`muster: ${message}\n`));
  return hasCode(error, 'config.invalid') ? EXIT.usage : EXIT.failed;
}
