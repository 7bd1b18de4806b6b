import type { Log } from '../log/index.ts';

/** What a person reads about a process that could not start, and the code it ends with. */
interface StartFailure {
  message: string;
  /** 78 (EX_CONFIG) for what the operator has to repair, which a supervisor need not try again; else 1. */
  exitCode: 78 | 1;
  /** False for a defect of Muster, whose stack belongs in the log. */
  isExpected: boolean;
}

const MESSAGE_BY_CODE: Readonly<Record<string, (error: Error) => string>> = {
  EADDRINUSE: (error) => `The port ${portOf(error)} is in use. Stop what listens there, or choose another one: PORT=3001 npm start`,
  EACCES: (error) => `This user may not listen on port ${portOf(error)}. Choose one above 1023: PORT=3000 npm start`,
  EADDRNOTAVAIL: (error) => `This machine has no such address: ${error.message}. Set HOST to 127.0.0.1 or 0.0.0.0.`,
};

/** Finds the words for an error that ended a start: one clear message that names the fix, where there is one. */
export function describeStartFailure(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { message: String(error), exitCode: 1, isExpected: false };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'config.invalid') return { message: error.message, exitCode: 78, isExpected: true };
  if (code.startsWith('unavailable.')) return { message: error.message, exitCode: 1, isExpected: true };
  // `port` is there when it was listening that failed; a file that may not be read has the same code and no port.
  const describe = 'port' in error || code === 'EADDRINUSE' ? MESSAGE_BY_CODE[code] : undefined;
  if (describe) return { message: describe(error), exitCode: 78, isExpected: true };
  return { message: error.message, exitCode: 1, isExpected: false };
}

function portOf(error: Error): string {
  return 'port' in error ? String(error.port) : 'asked for';
}

/** Says why a process could not start, once and without a stack unless the defect is ours, and ends it. */
export function exitOnStartFailure(error: unknown, log?: Log): never {
  const { message, exitCode, isExpected } = describeStartFailure(error);
  if (!isExpected && log) log.fatal({ event: 'process.start-failed', err: error }, 'Could not start');
  const trace = !isExpected && !log && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  process.stderr.write(`\nMuster cannot start: ${message}${trace}\n\n`);
  process.exit(exitCode);
}
