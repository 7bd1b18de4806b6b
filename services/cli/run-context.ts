import type { ApiClient } from './api-client.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** What each command works with. */
export interface RunContext {
  readonly terminal: Terminal;
  /** Connects by the options of the command; throws a `CliProblem` when there is no address or key. */
  connect(): ApiClient;
  /** What the process ends with; the last one said counts. */
  end(code: ExitCode): void;
  /** Text from standard input, whole. */
  readInput(): Promise<string>;
}
