import type { Readable, Writable } from 'node:stream';
import type { AgentResult } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { AgentRun, DefinitionOf } from '../agent-kind.ts';
import { type AttemptFolder, createMark, openAttemptFolder } from './attempt-place.ts';
import { startCommand, type CommandEnd, type CommandOptions, type CommandPlace, type RunningCommand } from './start-command.ts';
import { reportUsageLines } from './usage-lines.ts';
import { setTimeout as delay } from 'node:timers/promises';

/** Failures to start that no retry repairs. */
const CODE_BY_SPAWN: Readonly<Record<string, string>> = {
  ENOENT: 'RESOURCE_NOT_FOUND',
  ENOTDIR: 'RESOURCE_NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  E2BIG: 'INVALID_INPUT',
};

/**
 * Runs a program with the prompt on its stdin; what it writes to stdout is the output, as it comes, and lines of stderr report usage. With `takesInput` its stdin stays
 * open for messages, see `feedCommand`.
 * It sees PATH, LANG, `passEnv`, `env`, and MUSTER_TASK_ID, MUSTER_ATTEMPT, MUSTER_TENANT, MUSTER_SESSION and TRACEPARENT, and the mark by which its processes are found.
 * A folder of the attempt's own is its HOME, its TMPDIR and, without `cwd`, its working folder; it is removed afterwards.
 * Fails with COMMAND_FAILED (transient; `details` has exitCode and signal, and the end of stderr is a diagnostic), RESOURCE_NOT_FOUND when there
 * is no such program or folder, PERMISSION_DENIED when it may not be run.
 * Nothing that it started is left when this settles, as far as `AttemptProcesses` can find it.
 */
export async function runCommand(run: AgentRun<DefinitionOf<'command'>>, options: CommandOptions): Promise<AgentResult> {
  const { signal, log } = run.context;
  signal.throwIfAborted();
  const mark = createMark(await options.fleetId(signal));
  const folder = await openFolder(mark, options);
  try {
    signal.throwIfAborted();
    return await runIn({ mark, folder }, run, options);
  } finally {
    await folder
      .remove()
      .catch((error: unknown) =>
        log.warn({ event: 'command.folder-left', folder: folder.path, err: error }, 'the folder of an attempt could not be removed'),
      );
  }
}

async function openFolder(mark: string, { user, settings }: CommandOptions): Promise<AttemptFolder> {
  try {
    return await openAttemptFolder(mark, user, settings.folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TaskFailure('COMMAND_FAILED', `The attempt's own folder could not be made: ${reason}`, { cause });
  }
}

async function runIn(place: CommandPlace, run: AgentRun<DefinitionOf<'command'>>, options: CommandOptions): Promise<AgentResult> {
  const { context } = run;
  const { signal } = context;
  const command = startCommand(run, options, place);
  const stderr = keepTail(command.stderr, options.settings.maxStderrBytes);
  reportUsageLines(command.stderr, context);
  signal.addEventListener('abort', command.stop, { once: true });
  try {
    const fed = run.definition.takesInput === true ? feed(run, command) : undefined;
    const failure = await readText(command, (text) => signal.aborted || context.write(text));
    const end = await command.ended;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    await fed;
    if (end.exitCode !== 0) throw describeEnd(run.definition, end);
    return {};
  } finally {
    signal.removeEventListener('abort', command.stop);
    if (stderr() !== '') run.diagnose({ stderr: stderr() });
    const left = await command.finish();
    if (left.length > 0) context.log.warn({ event: 'command.processes-left', pids: left }, 'processes of a command could not be ended');
  }
}

/** Feeds the program until it ends. What goes wrong with that ends it too. */
function feed(run: AgentRun<DefinitionOf<'command'>>, command: RunningCommand): Promise<void> {
  const ended = new AbortController();
  void command.ended.then(() => ended.abort());
  const fed = feedCommand(run, command, ended.signal);
  // The caller awaits `fed` only after the program has ended.
  fed.catch(command.stop);
  return fed;
}

/** Passes on the program's output until its pipe closes. Resolves with the error of `write`, which ends the program. */
function readText({ stdout, stop }: RunningCommand, write: (text: string) => void): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>();
  let failure: Error | undefined;
  stdout.setEncoding('utf8');
  stdout.on('data', (text: string) => {
    if (failure !== undefined) return;
    try {
      write(text);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      stop();
    }
  });
  stdout.once('close', () => resolve(failure));
  return promise;
}

/** Keeps the end, where programs report what went wrong. */
function keepTail(stderr: Readable, maxBytes: number): () => string {
  let tail = Buffer.alloc(0);
  stderr.on('data', (piece: Buffer) => {
    tail = Buffer.concat([tail, piece.subarray(-maxBytes)]).subarray(-maxBytes);
  });
  // A cut may have left the rest of a character at the beginning.
  return () => tail.toString('utf8').replace(/^\uFFFD+/, '');
}

function describeEnd({ command }: DefinitionOf<'command'>, { exitCode, signal, spawnCode }: CommandEnd): TaskFailure {
  const [program] = command;
  if (spawnCode !== undefined) {
    return new TaskFailure(CODE_BY_SPAWN[spawnCode] ?? 'COMMAND_FAILED', `"${program}" could not be started: ${spawnCode}`, {
      details: { reason: spawnCode },
    });
  }
  const how = exitCode === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with code ${exitCode}`;
  return new TaskFailure('COMMAND_FAILED', `"${program}" ${how}`, {
    details: { exitCode: exitCode ?? null, signal: signal ?? null },
  });
}

/** The pipes of a program that runs. */
interface CommandPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

const IDLE_MS = 5000;

/**
 * Writes the prompt to the program's stdin, then each message that arrives, on a line of its own (line breaks in it become spaces). It
 * closes stdin once nothing was written in either direction for `inputIdleMs`, so that a program that reads to the end gets there. Returns
 * at the latest when the signal of the run or `ended` aborts.
 */
async function feedCommand(
  { task, definition, context, inputArrived }: AgentRun<DefinitionOf<'command'>>,
  { stdin, stdout }: CommandPipes,
  ended: AbortSignal,
): Promise<void> {
  const idle = watchIdle(stdout, definition.inputIdleMs ?? IDLE_MS, AbortSignal.any([ended, context.signal]));
  stdin.write(task.input.endsWith('\n') ? task.input : `${task.input}\n`);
  while (await Promise.race([inputArrived().then(() => true), idle.over.then(() => false)])) {
    // A program that closed its stdin reads no more, so nothing is taken for it.
    if (stdin.destroyed || !stdin.writable) break;
    for (const { text } of await context.input()) {
      stdin.write(`${text.trim().replaceAll(/\s*[\r\n]\s*/g, ' ')}\n`);
      idle.touch();
    }
  }
  stdin.end();
}

interface IdleWatch {
  /** Something happened. */
  touch(): void;
  /** Resolves once nothing happened for so long, or at once when the signal aborts. */
  readonly over: Promise<void>;
}

function watchIdle(stdout: Readable, idleMs: number, signal: AbortSignal): IdleWatch {
  let lastAt = performance.now();
  const touch = (): void => {
    lastAt = performance.now();
  };
  stdout.on('data', touch);
  const watch = async (): Promise<void> => {
    for (let leftMs = idleMs; leftMs > 0; leftMs = lastAt + idleMs - performance.now()) {
      await delay(leftMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  };
  return { touch, over: watch() };
}
