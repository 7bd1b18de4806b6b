import type { Readable } from 'node:stream';
import type { AgentResult } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { tmpdir } from 'node:os';
import { type AttemptFolder, openAttemptFolder } from './folder/attempt-folder.ts';
import { commandOf, fillSandbox, presetOf, sandboxOf } from './command-line.ts';
import { CheckpointFile, withoutCheckpoint } from './checkpoint-file.ts';
import { CommandWatch } from './command-watch.ts';
import { createMark } from './processes/attempt-mark.ts';
import { feedCommand } from './feed-command.ts';
import { openOutput, type OutputReader, readText } from './read-output.ts';
import { limitFailure, limitOfEnd, limitsOf } from './command-limits.ts';
import type { CommandOptions, CommandPlace, CommandRun } from './command-run.ts';
import { type CommandEnd, startFailure } from './spawn-command.ts';
import type { AttemptUser } from './users/attempt-users.ts';
import { type RunningCommand, startCommand } from './start-command.ts';
import { findLimitIn, zoneOf } from './command-limit.ts';
import { readStderrLines, type ReportedLimit } from './stderr-lines.ts';

/**
 * Runs a program with the prompt on its stdin; what it writes to stdout is the output, as it comes, or with a `preset` events of a transcript.
 * Lines of stderr report usage and limits. A program that has answered and does not end is ended. With `takesInput` its stdin stays open for messages, see `feedCommand`.
 * It sees PATH, LANG, `passEnv`, `env`, what `buildEnvironment` adds, and nothing else of this process's environment.
 * A folder of the attempt's own is its HOME, its TMPDIR and, without `cwd`, its working folder; it is removed afterwards. Before the start the
 * task's files come into `in`; after a good end what lies in `out` becomes the task's. Where attempts have users of their own, this process does
 * nothing in that folder once the program's user may enter it.
 * Fails with COMMAND_FAILED (transient; `details` has exitCode and signal, and the end of stderr is a diagnostic), COMMAND_SILENT after
 * `silenceMs` without a word, PROVIDER_QUOTA or THROTTLED when its account has nothing left, RESOURCE_NOT_FOUND when there
 * is no such program or folder, PERMISSION_DENIED when it may not be run.
 * Nothing that it started is left when this settles, as far as `AttemptProcesses` can find it.
 */
export async function runCommand(run: CommandRun, options: CommandOptions): Promise<AgentResult> {
  const { signal } = run.context;
  signal.throwIfAborted();
  const mark = createMark(await options.fleetId(signal));
  const endTurn = await options.turn?.take(run.task.tenant, mark);
  try {
    return await runAsUser(mark, run, options);
  } finally {
    await endTurn?.();
  }
}

async function runAsUser(mark: string, run: CommandRun, options: CommandOptions): Promise<AgentResult> {
  const { log } = run.context;
  const { user, folder } = await openPlace(mark, options);
  let isRemoved = true;
  try {
    await run.files?.bringIn(folder.in);
    const checkpoint = new CheckpointFile(run.checkpoint, folder, log);
    await checkpoint.bringIn();
    run.context.signal.throwIfAborted();
    const result = await runIn({ mark, folder, user }, run, options, checkpoint);
    // Nothing runs any more that could change them.
    await run.files?.takeOut(withoutCheckpoint(await folder.listOutput()));
    return result;
  } finally {
    await folder.remove().catch((error: unknown) => {
      isRemoved = false;
      log.warn({ event: 'command.folder-left', folder: folder.path, err: error }, 'the folder of an attempt could not be removed');
    });
    await user?.release(isRemoved);
  }
}

async function openPlace(mark: string, { users, settings }: CommandOptions): Promise<{ user: AttemptUser | null; folder: AttemptFolder }> {
  let user: AttemptUser | null = null;
  try {
    user = await users(mark, settings.folder ?? tmpdir());
    return { user, folder: await openAttemptFolder(mark, user, settings.folder) };
  } catch (cause) {
    await user?.release(true);
    if (cause instanceof TaskFailure) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TaskFailure('COMMAND_FAILED', `The attempt's own folder could not be made: ${reason}`, { cause });
  }
}

async function runIn(place: CommandPlace, run: CommandRun, options: CommandOptions, checkpoint: CheckpointFile): Promise<AgentResult> {
  const { context } = run;
  const { signal } = context;
  const command = await startCommand(run, options, place);
  checkpoint.watch();
  const watch = new CommandWatch(command, run, options.settings);
  const read = openReaders(run, options, { command, watch });
  const { output } = read;
  signal.addEventListener('abort', command.stop, { once: true });
  try {
    const written = readText(command, (text) => signal.aborted || output.write(text));
    const fed = run.definition.takesInput === true ? feed(run, command, output) : undefined;
    void fed?.catch(() => undefined).then(() => watch.feedEnded());
    const failure = await written;
    const end = await command.ended;
    const ended = watch.ended ?? (output.answered() > 0 && isLate(signal) ? 'answered' : null);
    if (ended !== 'answered') signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    await fed;
    assertLimits(run, options, { ...end, breach: command.breach() });
    return readAnswer(run, output, { ...end, ended, ...read.words() });
  } finally {
    watch.close();
    signal.removeEventListener('abort', command.stop);
    const { stderr } = read.words();
    if (stderr !== '') run.diagnose({ stderr });
    const left = await command.finish();
    await checkpoint.close();
    await endSandbox(place, run, options);
    if (left.length > 0) context.log.warn({ event: 'command.processes-left', pids: left }, 'processes of a command could not be ended');
  }
}

interface Readers {
  readonly output: OutputReader;
  /** What its stderr said so far. */
  readonly words: () => Pick<RunEnd, 'limit' | 'zone' | 'stderr'>;
}

/** What is made of what the program writes, as it comes. */
function openReaders(
  run: CommandRun,
  { variables, settings }: CommandOptions,
  { command, watch }: { command: RunningCommand; watch: CommandWatch },
): Readers {
  const zone = zoneOf(run.definition, variables);
  const output = openOutput(run, presetOf(run.definition)?.openTranscript(zone), {
    onAnswer: () => watch.answer(),
    onWork: () => watch.work(),
    onProvider: () => run.onProvider?.(),
  });
  const stderr = keepTail(command.stderr, settings.maxStderrBytes);
  let limit: ReportedLimit | null = null;
  const onLimit = (reported: ReportedLimit): void => {
    limit = reported;
    watch.answer();
  };
  readStderrLines(command.stderr, run.context, { onLimit, zone });
  return { output, words: () => ({ limit, zone, stderr: stderr() }) };
}

/** Ends what a sandbox has started elsewhere, as a container of a daemon. Never rejects. */
async function endSandbox(
  place: CommandPlace,
  { definition, context }: CommandRun,
  { directory, settings }: CommandOptions,
): Promise<void> {
  if (sandboxOf(definition, settings).length === 0) return;
  const [file, ...args] = fillSandbox(settings.sandboxEnd, { ...place, cwd: place.folder.work, variables: [] });
  if (file === undefined) return;
  const { execa } = await import('execa');
  const ended = await execa(file, args, { cwd: directory, reject: false, timeout: settings.endMs, stdin: 'ignore', maxBuffer: 100_000 });
  if (ended.failed) context.log.warn({ event: 'command.sandbox-left', err: ended.shortMessage }, 'the end of a sandbox has failed');
}

/** Throws for a program that was ended because it passed a limit, or that failed after the kernel refused it more. */
function assertLimits(
  { definition }: CommandRun,
  { settings }: CommandOptions,
  end: CommandEnd & { readonly breach: ReturnType<RunningCommand['breach']> },
): void {
  const limit = end.exitCode === 0 ? undefined : (end.breach ?? limitOfEnd(end));
  if (limit === undefined) return;
  throw limitFailure(commandOf(definition).program, limit, limitsOf(definition, settings));
}

/** Whether the attempt was stopped because it took too long. */
function isLate({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

interface RunEnd extends CommandEnd {
  /** Why its watch ended it. */
  readonly ended: CommandWatch['ended'];
  /** The limit that it has reported, if any. */
  readonly limit: ReportedLimit | null;
  readonly zone: string;
  /** The end of its stderr. */
  readonly stderr: string;
}

/** What a program reports of its failure says more than its exit code, and one that was ended after its answer has none of its own. */
function readAnswer(run: CommandRun, output: OutputReader, end: RunEnd): AgentResult {
  const { definition } = run;
  if (end.spawnCode !== undefined) throw describeEnd(definition, end);
  const answer = output.end();
  const isGood = end.ended === 'answered' ? output.answered() > 0 : end.ended === null && end.exitCode === 0;
  if (isGood && (end.limit === null || output.hasText())) return answer;
  const limit = findLimitIn(commandOf(definition).program, end);
  if (limit !== null) throw limit;
  if (end.ended === 'silent') throw silenceFailure(definition);
  throw describeEnd(definition, end);
}

function silenceFailure(definition: CommandRun['definition']): TaskFailure {
  const { silenceMs = 0 } = definition;
  const { program } = commandOf(definition);
  return new TaskFailure('COMMAND_SILENT', `"${program}" wrote nothing for ${silenceMs} ms (silenceMs), and was ended`, {
    details: { silenceMs },
  });
}

/** Feeds the program until it ends. What goes wrong with that ends it too. */
function feed(run: CommandRun, command: RunningCommand, { answered }: OutputReader): Promise<void> {
  const ended = new AbortController();
  void command.ended.then(() => ended.abort());
  const fed = feedCommand(run, command, { ended: ended.signal, answered });
  // The caller awaits `fed` only after the program has ended.
  fed.catch(command.stop);
  return fed;
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

function describeEnd(definition: CommandRun['definition'], { exitCode, signal, spawnCode }: CommandEnd): TaskFailure {
  const { program } = commandOf(definition);
  if (spawnCode !== undefined) return startFailure(program, spawnCode);
  const how = exitCode === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with code ${exitCode}`;
  return new TaskFailure('COMMAND_FAILED', `"${program}" ${how}`, {
    details: { exitCode: exitCode ?? null, signal: signal ?? null },
  });
}
