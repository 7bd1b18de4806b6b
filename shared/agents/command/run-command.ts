import type { Readable } from 'node:stream';
import { tmpdir } from 'node:os';
import type { AgentResult } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { KeptRun } from '../agent-kind.ts';
import { type AttemptFolder, openAttemptFolder } from './folder/attempt-folder.ts';
import { fillSandbox, presetOf, sandboxOf, serverOf } from './start/command-line.ts';
import { CheckpointFile, withoutCheckpoint } from './kept/checkpoint-file.ts';
import { CliSession, openKept } from './kept/cli-session.ts';
import { makeWorkspace, readChanges } from './kept/workspace.ts';
import { PermissionTool, withoutRequest } from './permissions/permission-tool.ts';
import { Permissions } from './permissions/permissions.ts';
import type { ServedProgram } from './presets/preset-server.ts';
import { CommandWatch } from './command-watch.ts';
import { createMark } from './processes/attempt-mark.ts';
import { feedCommand } from './feed-command.ts';
import { openOutput, type OutputReader, readText } from './read-output.ts';
import type { CommandOptions, CommandPlace, CommandRun } from './command-run.ts';
import { assertLimits, isLate, readAnswer, type RunEnd } from './run-end.ts';
import type { AttemptUser } from './users/attempt-users.ts';
import { openAsking, serveCommand } from './serve-command.ts';
import { type RunningCommand, startCommand } from './start/start-command.ts';
import { zoneOf } from './command-limit.ts';
import { readStderrLines, type ReportedLimit } from './stderr-lines.ts';

/**
 * Runs a program with the prompt on its stdin; what it writes to stdout is the output, as it comes, or with a `preset` events of a transcript.
 * Lines of stderr report usage and limits. A program that has answered and does not end is ended. With `takesInput` its stdin stays open for messages, see `feedCommand`.
 * It sees PATH, LANG, `passEnv`, `env`, what `buildEnvironment` adds, and nothing else of this process's environment.
 * A folder of the attempt's own is its HOME, its TMPDIR and, without `cwd`, its working folder; it is removed afterwards. Before the start the
 * task's files come into `in`; after a good end what lies in `out` becomes the task's. Where attempts have users of their own, this process does
 * nothing in that folder once the program's user may enter it. A coding agent goes on with its session, where `sessions` has kept it.
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
  for (let kept = await openKept(run); ; kept = null) {
    const outcome = await runFrom(kept, mark, run, options);
    if (outcome.kind === 'ended') return outcome.result;
    run.context.log.warn(
      { event: 'session.not-resumed', reason: outcome.reason },
      `the program starts without its session of before: ${outcome.reason}`,
    );
  }
}

/** What became of a program that was to go on with what an earlier run left: `not-resumed` of it only. */
type Outcome = { readonly kind: 'ended'; readonly result: AgentResult } | { readonly kind: 'not-resumed'; readonly reason: string };

async function runFrom(kept: KeptRun | null, mark: string, run: CommandRun, options: CommandOptions): Promise<Outcome> {
  const { log } = run.context;
  const { user, folder } = await openPlace(mark, options);
  let isRemoved = true;
  try {
    await run.files?.bringIn(folder.in);
    const permissions = new Permissions({ run, folder });
    // What people are asked is in the checkpoint of its run.
    const checkpoint = new CheckpointFile(permissions.isOn ? undefined : run.checkpoint, folder, log);
    await checkpoint.bringIn();
    const place = { mark, folder, user };
    const session = new CliSession({ run, options, place });
    const problem = kept && (await session.resume(kept));
    if (problem !== null) return { kind: 'not-resumed', reason: problem };
    if (!session.hasFolder) await makeWorkspace(run, options, place);
    run.context.signal.throwIfAborted();
    const tool = permissions.isOn && !serverOf(run.definition) ? new PermissionTool({ permissions, folder, log }) : null;
    return await runWithSession(place, run, options, { checkpoint, session, permissions, tool });
  } finally {
    await folder.remove().catch((error: unknown) => {
      isRemoved = false;
      log.warn({ event: 'command.folder-left', folder: folder.path, err: error }, 'the folder of an attempt could not be removed');
    });
    await user?.release(isRemoved);
  }
}

/** What a program leaves for later runs. */
interface Left {
  readonly checkpoint: CheckpointFile;
  readonly session: CliSession;
  readonly permissions: Permissions;
  /** By which it asks for them; null where it does not, or asks over its stdin and stdout. */
  readonly tool: PermissionTool | null;
}

async function runWithSession(place: CommandPlace, run: CommandRun, options: CommandOptions, left: Left): Promise<Outcome> {
  const { session, permissions } = left;
  const task = { ...run.task, input: session.promptFor(run.task.input, permissions.news) };
  let isDone = false;
  try {
    const furtherWords = (await left.tool?.prepare()) ?? [];
    const result = await runIn({ ...place, session: session.started, furtherWords }, { ...run, task }, options, left);
    if (session.isUnknown(null)) return UNKNOWN_SESSION;
    if (permissions.isUnanswered) return { kind: 'ended', result };
    await permissions.drop();
    left.checkpoint.assertKept();
    // Nothing runs any more that could change them.
    await run.files?.takeOut(withoutRequest(withoutCheckpoint(await place.folder.listOutput())));
    isDone = true;
    return { kind: 'ended', result };
  } catch (error) {
    if (!run.context.signal.aborted && session.isUnknown(error)) return UNKNOWN_SESSION;
    throw error;
  } finally {
    session.onChanges(await readChanges(run, options, place).catch(() => null));
    await session.close(isDone);
  }
}

const UNKNOWN_SESSION: Outcome = { kind: 'not-resumed', reason: 'it does not know it' };

export async function openPlace(
  mark: string,
  { users, settings }: CommandOptions,
): Promise<{ user: AttemptUser | null; folder: AttemptFolder }> {
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

async function runIn(
  place: CommandPlace,
  run: CommandRun,
  options: CommandOptions,
  { checkpoint, session, permissions, tool }: Left,
): Promise<AgentResult> {
  const { context } = run;
  const { signal } = context;
  const command = await startCommand(run, options, place);
  checkpoint.watch();
  session.watch();
  const watch = new CommandWatch(command, run, options.settings);
  const read = openReaders(run, options, { command, watch, session, permissions });
  const { output, served } = read;
  const asking = openAsking({ permissions, tool, served, watch, command });
  signal.addEventListener('abort', command.stop, { once: true });
  try {
    const written = readText(command, (text) => signal.aborted || output.write(text));
    const fed = run.definition.takesInput === true ? feed(run, command, output) : undefined;
    void fed?.catch(() => undefined).then(() => watch.feedEnded());
    const failure = await written;
    const end = await command.ended;
    const ended = watch.ended ?? answeredInTime(output, signal);
    if (ended !== 'answered') signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    await fed;
    if (permissions.isUnanswered) return {};
    assertLimits(run, options, { ...end, breach: command.breach() });
    return readAnswer(run, output, { ...end, ended, ...read.words() });
  } finally {
    watch.close();
    signal.removeEventListener('abort', command.stop);
    const { stderr } = read.words();
    session.onWords(stderr);
    if (stderr !== '') run.diagnose({ stderr });
    await asking.close();
    const left = await command.finish();
    await checkpoint.close();
    await endSandbox(place, run, options);
    if (left.length > 0) context.log.warn({ event: 'command.processes-left', pids: left }, 'processes of a command could not be ended');
  }
}

/** Its answer counts though its attempt took too long meanwhile. */
function answeredInTime(output: OutputReader, signal: AbortSignal): 'answered' | null {
  return output.answered() > 0 && isLate(signal) ? 'answered' : null;
}

interface Readers {
  readonly output: OutputReader;
  /** What talks to it, where it asks over its stdin. */
  readonly served: ServedProgram | undefined;
  /** What its stderr said so far. */
  readonly words: () => Pick<RunEnd, 'limit' | 'zone' | 'stderr'>;
}

/** What is made of what the program writes, as it comes. */
function openReaders(
  run: CommandRun,
  { variables, settings }: CommandOptions,
  { command, watch, session, permissions }: Pick<Left, 'session' | 'permissions'> & { command: RunningCommand; watch: CommandWatch },
): Readers {
  const zone = zoneOf(run.definition, variables);
  const served = serveCommand(run, { settings }, { command, session, permissions, zone });
  const transcript = served ?? presetOf(run.definition)?.openTranscript({ zone, usedBefore: session.usedBefore });
  const output = openOutput(run, transcript, {
    onAnswer: () => watch.answer(),
    onWork: () => watch.work(),
    onProvider: () => run.onProvider?.(),
    onSession: (id) => session.onSession(id),
    onSessionTotal: (used) => session.onTotal(used),
  });
  const stderr = keepTail(command.stderr, settings.maxStderrBytes);
  let limit: ReportedLimit | null = null;
  const onLimit = (reported: ReportedLimit): void => {
    limit = reported;
    watch.answer();
  };
  readStderrLines(command.stderr, run.context, { onLimit, zone });
  return { output, served, words: () => ({ limit, zone, stderr: stderr() }) };
}

/** Ends what a sandbox has started elsewhere, as a container of a daemon. Never rejects. */
export async function endSandbox(
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
