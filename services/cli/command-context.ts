import type { Command } from 'commander';
import type { CliEnvironment } from '#shared/config/index.ts';
import type { Clock } from '#shared/time/index.ts';
import type { ExitCode } from './cli-problem.ts';
import type { ApiClient } from './client/api-client.ts';
import type { Terminal } from './output/terminal.ts';

/** The dependencies of each command. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Connects by the options of the command. Throws a `CliProblem` when there is no address or key. */
  connect(): ApiClient;
  readonly env: CliEnvironment;
  /** Reads a variable of the environment that the person named. */
  readonly readVariable: (name: string) => string | undefined;
  /** The address that `connect` would use. Throws a `CliProblem` when there is none. */
  findAddress(): string;
  /** Whether that is the address of another fleet than this machine's. */
  isElsewhere(): boolean;
  /** Sets the exit code; the last call counts. */
  end(code: ExitCode): void;
  /** The complete text of standard input. */
  readInput(): Promise<string>;
  /** Standard input as it comes. */
  readonly input: NodeJS.ReadableStream;
}

/** Makes the context when a command runs, because the address is among its options. */
export type ContextOf = (command: Command) => CommandContext;
