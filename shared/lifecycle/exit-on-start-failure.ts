import type { Log } from '../log/index.ts';
import { describeStartFailure } from './start-failure.ts';

/** Says why a process could not start, once and without a stack unless the defect is ours, and ends it. */
export function exitOnStartFailure(error: unknown, log?: Log): never {
  const { message, exitCode, isExpected } = describeStartFailure(error);
  if (!isExpected && log) log.fatal({ event: 'process.start-failed', err: error }, 'Could not start');
  const trace = !isExpected && !log && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  process.stderr.write(`\nMuster cannot start: ${message}${trace}\n\n`);
  process.exit(exitCode);
}
