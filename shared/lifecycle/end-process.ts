import type { EventEmitter } from 'node:events';
import { startCommand } from '../config/index.ts';
import { handleStray } from '../agents/index.ts';
import { isLostReader, type Log } from '../log/index.ts';
import { LATE, within } from '../time/index.ts';

interface EndOptions {
  log: Log;
  /** Ends everything, within the grace that it knows itself. */
  stop: () => Promise<void>;
  /** What can still be done when the process leaves at once; nothing in it may wait. */
  abandon?: () => void;
  /** After so long a stop that hangs is given up. */
  deadlineMs: number;
  /** Resolves when the process cannot go on: it drains, and exits with 1. */
  failure?: Promise<Error>;
  /** Resolves when the process has done its work: it drains, and exits with 0. */
  completion?: Promise<void>;
  /** Where signals come from and what ends the process; tests hand in their own. */
  process?: Pick<EventEmitter, 'on'> & { exit(code: number): void };
}

/** npm passes Ctrl-C on to its script, which had it from the terminal already: so soon after the first signal it is the same press. */
const SAME_PRESS_MS = 500;

const INTERRUPTED = 130;
/** What ends the process instead of a signal. */
const FAILURE = 'failure';
const COMPLETION = 'completion';

/**
 * Makes SIGTERM, SIGINT and SIGHUP (its terminal is closed) end this process: the first drains and exits with 0, a second that
 * a person sends exits at once with 130.
 * A failure that its parts report drains, too, and exits with 1. An uncaught exception or rejection is logged and exits with 1:
 * after it nothing here can be trusted. One of an agent's own code fails its attempt instead.
 */
export function endOnSignals(options: EndOptions): void {
  const host = options.process ?? process;
  const end = createEnd(options, host);
  host.on('SIGTERM', () => end('SIGTERM'));
  host.on('SIGINT', () => end('SIGINT'));
  // Without a listener it would end this process at once, and leave behind what it started.
  host.on('SIGHUP', () => end('SIGHUP'));
  outliveReaders();
  if (options.failure) void endOnFailure(options.failure, options.log, end);
  void options.completion?.then(() => end(COMPLETION));
  const fail = (error: unknown): void => {
    if (handleStray(error)) return;
    options.log.fatal({ event: 'process.failed', err: error }, 'An uncaught error ends this process');
    options.abandon?.();
    host.exit(1);
  };
  host.on('uncaughtException', fail);
  host.on('unhandledRejection', fail);
}

/** What agents and Node itself print comes to nothing once the terminal is closed or nobody reads the pipe; it ends no process. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off('error', ignoreLostReader).on('error', ignoreLostReader);
}

function ignoreLostReader(error: Error): void {
  if (!isLostReader(error)) throw error;
}

async function endOnFailure(failure: Promise<Error>, log: Log, end: (signal: string) => void): Promise<void> {
  const error = await failure;
  log.fatal({ event: 'process.failed', reason: error.message }, `This process cannot go on and ends: ${error.message}`);
  end(FAILURE);
}

function createEnd({ log, stop, abandon, deadlineMs }: EndOptions, host: { exit(code: number): void }): (signal: string) => void {
  let firstAt: number | null = null;
  return (signal) => {
    if (firstAt !== null) {
      // A terminal that closes, and a shell with it, ask for the end that is under way; they do not press twice.
      if (signal === 'SIGHUP' || performance.now() - firstAt < SAME_PRESS_MS) return;
      log.warn({ event: 'process.interrupted', signal }, 'Ended at once; unfinished work is taken up by the next start');
      abandon?.();
      host.exit(INTERRUPTED);
      return;
    }
    firstAt = performance.now();
    log.info({ event: 'process.stopping', signal }, 'Stopping: running work may end; the same signal again ends at once');
    void drain().then((code) => host.exit(signal === FAILURE ? 1 : code));
  };

  async function drain(): Promise<number> {
    try {
      if ((await within(stop(), deadlineMs)) !== LATE) {
        log.info({ event: 'process.stopped' }, 'Stopped');
        return 0;
      }
      log.error({ event: 'process.stop-late', deadlineMs }, 'Stopping took too long and is given up');
    } catch (error) {
      log.error({ event: 'process.stop-failed', err: error }, 'Stopping failed');
    }
    abandon?.();
    return 1;
  }
}

/** What a person reads about a process that could not start, and the code it ends with. */
interface StartFailure {
  message: string;
  /** 78 (EX_CONFIG) for what the operator has to repair, which a supervisor need not try again; else 1. */
  exitCode: 78 | 1;
  /** False for a defect of Muster, whose stack belongs in the log. */
  isExpected: boolean;
}

const MESSAGE_BY_CODE: Readonly<Record<string, (error: Error) => string>> = {
  EADDRINUSE: (error) => `The port ${portOf(error)} is in use. Stop what listens there, or choose another one: PORT=3001 ${startCommand()}`,
  EACCES: (error) => `This user may not listen on port ${portOf(error)}. Choose one above 1023: PORT=3000 ${startCommand()}`,
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
