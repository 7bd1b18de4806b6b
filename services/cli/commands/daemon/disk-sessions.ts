import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { DaemonTask, KeptWorkspace, WorkspaceLeft, WorkspaceShelf } from '#daemon';
import { type AttemptSessions, type KeptRun, sessionNoteSchema, type SessionNote } from '#shared/agents/index.ts';

/** As long as a fleet keeps them, unless it says. */
const KEEP_MS = 7 * 86_400_000;
const MAX_KEPT = 500;

const keptSchema = sessionNoteSchema.extend({
  /** The task whose run left it, and when that began, ms since the epoch. */
  task: z.string(),
  startedAt: z.number(),
  /** The file with the archive. */
  archive: z.string(),
  /** Of a workspace: whose it is, and how long the fleet keeps it. */
  workspace: z.object({ agent: z.string(), session: z.string().nullable(), keepMs: z.number() }).optional(),
});

type Kept = z.infer<typeof keptSchema>;

/** What a file of a note is called by. */
const NOTE = /^[0-9a-f]{64}\.json$/;

/**
 * DiskSessions is responsible for what the programs of a daemon leave for their next run: on this machine's disk, a note and an archive for each session and
 * agent, or for each task without a session. One that is not used for a week is removed.
 */
export class DiskSessions implements AttemptSessions {
  readonly #folder: string;
  readonly #task: DaemonTask;
  readonly #name: string;
  readonly #startedAt = Date.now();
  readonly #onKept: (left: WorkspaceLeft) => void;

  /** `onKept`: called with what it keeps of a workspace. */
  constructor(folder: string, task: DaemonTask, onKept: (left: WorkspaceLeft) => void) {
    const of = task.session === null ? ['task', task.id] : ['session', task.session];
    this.#folder = folder;
    this.#task = task;
    this.#onKept = onKept;
    this.#name = createHash('sha256')
      .update(JSON.stringify([task.tenant, task.agent, ...of]))
      .digest('hex');
  }

  readonly open = async (): Promise<KeptRun | null> => {
    const [kept, note] = await Promise.all([this.#read(), stat(this.#notePath).catch(() => null)]);
    if (kept === null || Date.now() - (note?.mtimeMs ?? 0) > keepMsOf(kept)) return null;
    const isOfTask = kept.task === this.#task.id;
    const since = this.#task.sessionSince === null ? 0 : Date.parse(this.#task.sessionSince);
    if (!isOfTask && kept.startedAt < since) return null;
    const path = join(this.#folder, kept.archive);
    const isThere = await stat(path).catch(() => null);
    return { ...kept, isOfTask, read: () => Promise.resolve(isThere && createReadStream(path)) };
  };

  /** What is there stays until the new archive is complete. */
  readonly keep = async (note: SessionNote, archive: AsyncIterable<Uint8Array>): Promise<void> => {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const former = await this.#read();
    const { id: task, agent, session, workspace } = this.#task;
    const own = workspace ? { workspace: { agent, session, keepMs: workspace.keepMs } } : {};
    const kept: Kept = { ...note, task, startedAt: this.#startedAt, archive: `${this.#name}.${randomUUID()}.tar.gz`, ...own };
    const path = join(this.#folder, kept.archive);
    try {
      await pipeline(Readable.from(archive), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
      await writeFile(`${path}.json`, JSON.stringify(kept), { mode: 0o600, flush: true });
      await rename(`${path}.json`, this.#notePath);
    } catch (error) {
      for (const each of [path, `${path}.json`]) await rm(each, { force: true }).catch(() => undefined);
      throw error;
    }
    if (former !== null) await rm(join(this.#folder, former.archive), { force: true });
    if (workspace) this.#onKept({ bytes: (await stat(path)).size, changes: note.changes });
  };

  async #read(): Promise<Kept | null> {
    return await readKept(this.#notePath);
  }

  get #notePath(): string {
    return join(this.#folder, `${this.#name}.json`);
  }
}

async function readKept(path: string): Promise<Kept | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return keptSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function keepMsOf({ workspace }: Pick<Kept, 'workspace'>): number {
  return workspace?.keepMs ?? KEEP_MS;
}

interface Aged {
  readonly name: string;
  readonly at: number;
  readonly kept: Kept | null;
}

async function listNotes(folder: string): Promise<Aged[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => NOTE.test(name));
  const read = async (name: string): Promise<Aged | null> => {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    return found && { name, at: found.mtimeMs, kept: await readKept(path) };
  };
  return (await Promise.all(names.map(read))).filter((each) => each !== null);
}

/** Removes what was not used for a week, or for as long as its fleet keeps it, and what is beyond the newest. */
async function removeOld(folder: string, now: number): Promise<Aged[]> {
  const aged = (await listNotes(folder)).toSorted((a, b) => b.at - a.at);
  const isWanted = ({ at, kept }: Aged, index: number): boolean => index < MAX_KEPT && now - at < keepMsOf(kept ?? {});
  for (const each of aged.filter((one, index) => !isWanted(one, index))) await removeKept(folder, each);
  return aged.filter(isWanted);
}

async function removeKept(folder: string, { name, kept }: Aged): Promise<void> {
  await rm(join(folder, name), { force: true });
  // The hub and other programs name no path: a note that was tampered with does not either.
  if (kept !== null) await rm(join(folder, basename(kept.archive)), { force: true });
}

/** The same, with what a killed process left half. For the start, when nothing runs. */
export async function removeOldSessions(folder: string, now: number): Promise<void> {
  const kept = await removeOld(folder, now);
  const wanted = new Set(kept.flatMap((each) => [each.name, each.kept?.archive]));
  for (const name of await readdir(folder).catch((): string[] => [])) if (!wanted.has(name)) await rm(join(folder, name), { force: true });
}

/** The workspaces among what programs of a daemon left. */
export function workspacesIn(folder: string): WorkspaceShelf {
  const list = async (): Promise<(KeptWorkspace & { readonly note: Aged })[]> =>
    (await removeOld(folder, Date.now())).flatMap((note) => {
      const { workspace, task: taskId } = note.kept ?? {};
      return workspace && taskId !== undefined ? [{ agent: workspace.agent, session: workspace.session, taskId, note }] : [];
    });
  return {
    list: async () => (await list()).map(({ agent, session, taskId }) => ({ agent, session, taskId })),
    remove: async ({ agent, session, taskId }) => {
      // One that a task has kept since then is not the one that was meant.
      const isMeant = (each: KeptWorkspace): boolean => each.agent === agent && each.session === session && each.taskId === taskId;
      for (const { note } of (await list()).filter(isMeant)) await removeKept(folder, note);
    },
  };
}
