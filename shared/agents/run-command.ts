import type { Readable } from 'node:stream';
import type { AgentResult } from '../config/agent-function.ts';
import { TaskFailure } from '../errors/task-failure.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun } from './agent-runner.ts';
import { feedCommand } from './feed-command.ts';
import { startCommand, type CommandEnd, type RunningCommand, type StartOptions } from './start-command.ts';

/** Characters of stderr that go into the error: the end, where programs say what went wrong. */
const STDERR_TAIL = 4096;

/** Failures to start that no second try mends. */
const CODE_BY_SPAWN: Readonly<Record<string, string>> = {
  ENOENT: 'RESOURCE_NOT_FOUND',
  ENOTDIR: 'RESOURCE_NOT_FOUND',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  E2BIG: 'INVALID_INPUT',
};

/**
 * Runs a program with the prompt on its stdin; what it writes to stdout is the output, as it comes. With `takesInput` its stdin stays
 * open for messages, see `feedCommand`.
 * It sees PATH, HOME, LANG, `passEnv`, `env`, and MUSTER_TASK_ID, MUSTER_ATTEMPT, MUSTER_TENANT, MUSTER_SESSION and TRACEPARENT.
 * Fails with COMMAND_FAILED (transient; `details` has exitCode, signal and the end of stderr), RESOURCE_NOT_FOUND when there
 * is no such program or folder, PERMISSION_DENIED when it may not be run.
 * Whatever happens, nothing of its process group is left when this settles.
 */
export async function runCommand(run: AgentRun<DefinitionOf<'command'>>, options: StartOptions): Promise<AgentResult> {
  const { context } = run;
  const { signal } = context;
  signal.throwIfAborted();
  const command = startCommand(run, options);
  const stderr = keepTail(command.stderr);
  signal.addEventListener('abort', command.stop, { once: true });
  try {
    const fed = run.definition.takesInput === true ? feed(run, command) : undefined;
    const failure = await readText(command, (text) => signal.aborted || context.write(text));
    const end = await command.ended;
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    await fed;
    if (end.exitCode !== 0) throw describeEnd(run.definition, end, stderr());
    return {};
  } finally {
    signal.removeEventListener('abort', command.stop);
    command.finish();
  }
}

/** Feeds the program until it ends. What goes wrong with that ends it too. */
function feed(run: AgentRun<DefinitionOf<'command'>>, command: RunningCommand): Promise<void> {
  const ended = new AbortController();
  void command.ended.then(() => ended.abort());
  const fed = feedCommand(run, command, ended.signal);
  // Told by whoever awaits `fed`, after the program has ended; until then nobody listens.
  fed.catch(command.stop);
  return fed;
}

/** Hands on what the program writes until its pipe closes. Resolves with what `write` threw, which ends the program. */
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

function keepTail(stderr: Readable): () => string {
  let tail = '';
  stderr.setEncoding('utf8');
  stderr.on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL);
  });
  return () => tail;
}

function describeEnd({ command }: DefinitionOf<'command'>, { exitCode, signal, spawnCode }: CommandEnd, stderr: string): TaskFailure {
  const [program] = command;
  if (spawnCode !== undefined) {
    return new TaskFailure(CODE_BY_SPAWN[spawnCode] ?? 'COMMAND_FAILED', `"${program}" could not be started: ${spawnCode}`, {
      details: { reason: spawnCode },
    });
  }
  const how = exitCode === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with code ${exitCode}`;
  return new TaskFailure('COMMAND_FAILED', `"${program}" ${how}`, {
    details: { exitCode: exitCode ?? null, signal: signal ?? null, stderr },
  });
}
