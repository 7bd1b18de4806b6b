import { z } from 'zod';
import { type AttemptSessions, type KeptRun, type SessionNote, sessionNoteSchema } from '../../agents/index.ts';
import type { FileStore, KeptPlace, KeptRunFile } from '../../files/index.ts';
import { type DaemonWorkspace, noteWorkspace } from '../../daemons/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { readTranscriptStart } from '../../sessions/index.ts';
import type { TaskBody, TaskState } from '../../tasks/index.ts';
import { truncate } from '../../text/index.ts';
import { failureOfFiles } from './file-failure.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface RunSessionsOptions {
  ledger: Ledger;
  files: FileStore;
  attempt: RunningAttempt;
  body: Pick<TaskBody, 'id' | 'tenant' | 'session' | 'agent'>;
  /** When the task was accepted, ms since the epoch. */
  createdAt: TaskState['createdAt'];
  /** The attempt's number. */
  number: number;
}

/** Characters of what was changed, of daemons that say more. */
const MAX_CHANGES = 4000;

const noteSchema = sessionNoteSchema.extend({
  /** When its task was accepted. */
  createdAt: z.number(),
});

/**
 * RunSessions is responsible for what a program of an attempt leaves for the next one: for the next turn of its session, or without one for the next
 * attempt of its task. One attempt of a session runs at a time, and only the one that holds its lease keeps anything.
 */
export class RunSessions implements AttemptSessions {
  readonly #options: RunSessionsOptions;
  /** Whether this attempt has kept anything that the next one goes on from. */
  hasKept = false;

  constructor(options: RunSessionsOptions) {
    this.#options = options;
  }

  readonly open = async (): Promise<KeptRun | null> => {
    const { files, attempt, body, ledger } = this.#options;
    const signal = (): AbortSignal => attempt.signal;
    const kept = (await retryWhileAway(() => files.listKeptRuns(body.tenant, this.#of), { signal })).get(body.agent);
    const note = noteSchema.safeParse(kept?.note);
    if (kept === undefined || !note.success || Date.now() - kept.at > ledger.settings.workspaces.keepMs) return null;
    const { createdAt, ...rest } = note.data;
    const isOfTask = kept.task === body.id;
    if (!isOfTask && createdAt < (await this.since())) return null;
    return { ...rest, isOfTask, read: () => this.#read(kept) };
  };

  readonly keep = async (note: SessionNote, archive: AsyncIterable<Uint8Array>): Promise<void> => {
    const { files, attempt, body, number, createdAt, ledger } = this.#options;
    const by = { tenant: body.tenant, task: body.id, attempt: number, lease: attempt.member };
    const place: KeptPlace = { of: this.#of, agent: body.agent, note: { ...note, createdAt } };
    const { maxBytes } = ledger.settings.commands.sessions;
    await files.keepRun(by, place, archive, { maxBytes, keepMs: ledger.settings.workspaces.keepMs });
    this.hasKept = true;
  };

  /** How long after a run what it left is kept, ms. */
  get keepMs(): number {
    return this.#options.ledger.settings.workspaces.keepMs;
  }

  /** Notes that a daemon keeps the working folder of the attempt on its own disk. */
  async noteOnDaemon(daemon: string, { bytes, changes }: Pick<DaemonWorkspace, 'bytes' | 'changes'>): Promise<void> {
    const { ledger, attempt, body } = this.#options;
    const place = { of: this.#of, agent: body.agent, daemon, task: body.id, at: Date.now(), keepMs: this.keepMs };
    const shown = changes === null ? null : truncate(changes, MAX_CHANGES);
    await retryWhileAway(() => noteWorkspace(ledger, body.tenant, { ...place, bytes, changes: shown }), { signal: () => attempt.signal });
  }

  /** Since when the conversation of its session counts, ms since the epoch: whoever begins a new one begins one with its programs too. */
  async since(): Promise<number> {
    const { ledger, body, attempt } = this.#options;
    const { tenant, session } = body;
    if (session === null) return 0;
    return await retryWhileAway(() => readTranscriptStart(ledger, tenant, session), { signal: () => attempt.signal });
  }

  /** Errors: FILES_UNAVAILABLE. */
  async #read({ file }: KeptRunFile): Promise<AsyncIterable<Uint8Array> | null> {
    const { files, body } = this.#options;
    try {
      return await files.open({ tenant: body.tenant, file });
    } catch (error) {
      throw failureOfFiles(error);
    }
  }

  get #of(): KeptPlace['of'] {
    const { session, id } = this.#options.body;
    return session === null ? `task/${id}` : `session/${session}`;
  }
}
