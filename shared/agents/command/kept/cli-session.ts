import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import pRetry from 'p-retry';
import type { AgentUsage } from '../../../config/index.ts';
import { hasCode } from '../../../errors/index.ts';
import { Ticker } from '../../../time/index.ts';
import type { KeptRun } from '../../agent-kind.ts';
import type { CommandOptions, CommandPlace, CommandRun, StartedSession } from '../command-run.ts';
import { buildEnvironment } from '../start/command-environment.ts';
import { sessionOf } from '../start/command-line.ts';
import { findCwd } from '../start/find-cwd.ts';
import { REQUEST_FILE } from '../permissions/permission-tool.ts';
import { CHECKPOINT_FILE } from './checkpoint-file.ts';
import type { SessionNote } from './session-note.ts';
import type { KeptListing, KeptPlaces, KeptSession } from './kept-places.ts';

/** Undefined for a program of which nothing is kept. */
function sessionsOf({ definition, sessions }: CommandRun): CommandRun['sessions'] {
  return sessionOf(definition) || definition.workspace ? sessions : undefined;
}

/** What earlier runs left; null for nothing. */
export async function openKept(run: CommandRun): Promise<KeptRun | null> {
  return (await sessionsOf(run)?.open()) ?? null;
}

interface CliSessionOptions {
  readonly run: CommandRun;
  readonly options: CommandOptions;
  readonly place: CommandPlace;
}

/** What the storage of files may recover from, within the time that an attempt has to end. */
const RETRIES = { retries: 2, minTimeout: 300, factor: 2 };

/** Whether another attempt has its place by now. */
function isOver(error: unknown): boolean {
  return hasCode(error, 'file.attempt-over');
}

/** In the working folder: the attachments of each task come by themselves, and its artifacts go with it. */
const [IN, OUT] = ['in', 'out'];
/** What is not kept of a run that goes on: its checkpoint has a place of its own. */
const STAYS_BEHIND = [IN, `${OUT}/${CHECKPOINT_FILE}`, `${OUT}/${REQUEST_FILE}`];

/**
 * CliSession is responsible for a coding agent's own session, and for its working folder, going on from one attempt of a task to the next, and from
 * one turn of a session to the next: it puts what was kept into the folder of the attempt, and keeps it again while the program runs and at its end.
 */
export class CliSession {
  readonly #run: CommandRun;
  /** Undefined for a program of which nothing is kept. */
  readonly #sessions: CommandRun['sessions'];
  readonly #place: CommandPlace;
  readonly #settings: CommandOptions['settings'];
  /** The folder that its program runs in. */
  readonly cwd: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #ticker: Ticker;
  #id: string | null;
  #isResumed = false;
  #isOfTask = false;
  #hasBegun = false;
  #used: AgentUsage | null = null;
  #words = '';
  #isLost = false;
  /** Digest of what was kept last. */
  #kept = '';
  #problem: string | null = null;
  /** Whether the working folder was kept too. */
  #hasFolder = false;
  #changes: string | null = null;

  constructor({ run, options, place }: CliSessionOptions) {
    this.#run = run;
    this.#sessions = sessionsOf(run);
    this.#place = place;
    this.#settings = options.settings;
    this.cwd = findCwd(run.definition, options, place);
    this.#variables = buildEnvironment(run, options.variables, place);
    this.#id = this.#preset?.begin ? randomUUID() : null;
    this.#ticker = new Ticker({
      everyMs: options.settings.sessions.keepEveryMs,
      run: () => this.#keep(false),
      // As where a file changed meanwhile: the next round keeps it.
      onError: (error) => run.context.log.debug({ err: error }, 'the session of a program could not be kept now'),
    });
  }

  get #preset(): ReturnType<typeof sessionOf> {
    return sessionOf(this.#run.definition);
  }

  /** Null for a program that has none, and for one that chooses its id. */
  get started(): StartedSession | null {
    return this.#sessions === undefined || this.#id === null ? null : { id: this.#id, isResumed: this.#isResumed };
  }

  /** What its session had used before this run. */
  get usedBefore(): AgentUsage | null {
    return this.#isResumed ? this.#used : null;
  }

  /**
   * Puts what was kept into the attempt's folder. Resolves with why the program cannot go on with it; null where it can. Errors: those of
   * `KeptRun.read`.
   */
  async resume(kept: KeptRun): Promise<string | null> {
    const archive = await kept.read();
    if (archive === null) return 'it is not kept any more';
    const { preset } = this.#run.definition;
    const id = kept.preset === (preset ?? null) ? kept.id : null;
    const cwd = await realpath(this.cwd).catch(() => this.cwd);
    const { folder } = this.#place;
    try {
      this.#hasFolder = (await folder.unpackKept(archive, this.#places(id, kept.isOfTask ? [IN] : [IN, OUT], cwd))) > 0;
      if (id !== null) [this.#id, this.#isResumed, this.#used] = [id, true, kept.used];
      this.#kept = this.#stateOf(await folder.listKept(this.#places(this.#id, STAYS_BEHIND))).digest;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    this.#isOfTask = kept.isOfTask;
    this.#changes = kept.changes;
    return null;
  }

  /** Whether the working folder is as a run before left it. */
  get hasFolder(): boolean {
    return this.#hasFolder;
  }

  /** What was changed in its checkout, when that is known. */
  onChanges(changes: string | null): void {
    this.#changes = changes ?? this.#changes;
  }

  /** What the program is asked: what it is given, or to go on with that where an earlier attempt had begun. `news`: what came since. */
  promptFor(input: string, news: string | null): string {
    const first = news ?? (this.#isOfTask ? GO_ON : null);
    return this.#isResumed && first !== null ? `${first}\n\n${input}` : input;
  }

  /** The program says which session it has. */
  onSession(id: string): void {
    this.#hasBegun = true;
    this.#id = id;
  }

  /** What its session has used in all. */
  onTotal(used: AgentUsage): void {
    this.#used = used;
  }

  /** What the program has said on its stderr. */
  onWords(stderr: string): void {
    this.#words = stderr;
  }

  /** Whether the program has ended, with this error or none, because it knows no session of that id. Nothing is kept then. */
  isUnknown(error: unknown): boolean {
    const said = `${this.#words}\n${error instanceof Error ? error.message : ''}`;
    this.#isLost = this.#isResumed && !this.#hasBegun && this.#preset?.isUnknown.test(said) === true;
    return this.#isLost;
  }

  /** Keeps it again and again until `close`. */
  watch(): void {
    if (this.#sessions) this.#ticker.start();
  }

  /** Keeps it as it is now, when nothing runs any more that could change it. `isDone`: its files have become those of the task. Never rejects. */
  async close(isDone: boolean): Promise<void> {
    await this.#ticker.stop();
    if (!this.#sessions || this.#isLost) return;
    await pRetry(() => this.#keep(isDone), { ...RETRIES, shouldRetry: ({ error }) => !isOver(error) }).catch((error: unknown) => {
      if (isOver(error)) return;
      const { log } = this.#run.context;
      log.warn(
        { event: 'session.not-kept', err: error },
        'the session of a program was not kept: the next run starts without what is new in it',
      );
    });
  }

  async #keep(isDone: boolean): Promise<void> {
    const { folder } = this.#place;
    const listing = await folder.listKept(this.#places(this.#id, isDone ? [IN, OUT] : STAYS_BEHIND));
    this.#noteProblem(listing);
    const { note, digest } = this.#stateOf(listing);
    const isNothing = note.id === null && (this.#run.definition.workspace === undefined || listing.entries === 0);
    if (isNothing || digest === this.#kept) return;
    await this.#sessions?.keep(note, folder.packKept());
    this.#kept = digest;
  }

  /** What is known of it, and a text that changes when something of it does. */
  #stateOf({ sessionFiles, digest }: KeptListing): { note: SessionNote; digest: string } {
    const isThere = sessionFiles > 0 || (this.#isElsewhere && (this.#hasBegun || this.#isResumed));
    const note = { preset: this.#run.definition.preset ?? null, id: isThere ? this.#id : null, used: this.#used, changes: this.#changes };
    return { note, digest: JSON.stringify([digest, note]) };
  }

  #noteProblem({ problem }: KeptListing): void {
    if (problem === null || problem === this.#problem) return;
    this.#problem = problem;
    this.#run.context.log.warn({ event: 'session.folder-left-out' }, `the working folder is not kept for the next run: ${problem}`);
  }

  /** Whether its files stay where they are, in a HOME that others use too. */
  get #isElsewhere(): boolean {
    return this.#preset?.data.isShared === true && !this.#data?.isOwn;
  }

  /** Where the program has its data, and whether that is the attempt's own. */
  get #data(): { folder: string; isOwn: boolean } | null {
    if (!this.#preset) return null;
    const { variable, inVariable, inHome } = this.#preset.data;
    const { [variable]: named = '', HOME: home = '' } = this.#variables;
    if (named !== '') return { folder: join(named, inVariable), isOwn: false };
    return { folder: join(home, inHome), isOwn: home === this.#place.folder.home };
  }

  #places(id: string | null, leaveOut: readonly string[], cwd = this.cwd): KeptPlaces {
    const work = this.#run.definition.cwd === undefined ? this.#place.folder.work : null;
    return { work, leaveOut, session: this.#files(id, cwd), maxBytes: this.#settings.sessions.maxBytes };
  }

  #files(id: string | null, cwd: string): KeptSession | null {
    if (!this.#preset || !this.#data || id === null || this.#isElsewhere) return null;
    const { names, files, place } = this.#preset.data;
    return {
      folder: this.#data.folder,
      names,
      files: files.replace('{id}', () => RegExp.escape(id)),
      place: place ? { from: place.from, to: place.to(cwd) } : null,
    };
  }
}

const GO_ON =
  'This run was interrupted, and goes on now. Do not begin again: what you did before is done, and your files are as you left them. Go on where you stopped. You were asked:';
