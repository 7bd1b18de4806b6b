import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { DaemonTask } from '#daemon';
import { type AttemptSessions, type KeptRun, sessionNoteSchema, type SessionNote } from '#shared/agents/index.ts';

/** As long as a fleet keeps them. */
const KEEP_MS = 7 * 86_400_000;
const MAX_KEPT = 500;

const keptSchema = sessionNoteSchema.extend({
  /** The task whose run left it, and when that began, ms since the epoch. */
  task: z.string(),
  startedAt: z.number(),
  /** The file with the archive. */
  archive: z.string(),
});

type Kept = z.infer<typeof keptSchema>;

/**
 * DiskSessions is responsible for what the programs of a daemon leave for their next run: on this machine's disk, a note and an archive for each session and
 * agent, or for each task without a session. One that is not used for a week is removed.
 */
export class DiskSessions implements AttemptSessions {
  readonly #folder: string;
  readonly #task: DaemonTask;
  readonly #name: string;
  readonly #startedAt = Date.now();

  constructor(folder: string, task: DaemonTask) {
    const of = task.session === null ? ['task', task.id] : ['session', task.session];
    this.#folder = folder;
    this.#task = task;
    this.#name = createHash('sha256')
      .update(JSON.stringify([task.tenant, task.agent, ...of]))
      .digest('hex');
  }

  readonly open = async (): Promise<KeptRun | null> => {
    const kept = await this.#read();
    if (kept === null) return null;
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
    const kept: Kept = { ...note, task: this.#task.id, startedAt: this.#startedAt, archive: `${this.#name}.${randomUUID()}.tar.gz` };
    const path = join(this.#folder, kept.archive);
    try {
      await pipeline(Readable.from(archive), createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
      await writeFile(`${path}.json`, JSON.stringify(kept), { mode: 0o600, flush: true });
      await rename(`${path}.json`, join(this.#folder, `${this.#name}.json`));
    } catch (error) {
      for (const each of [path, `${path}.json`]) await rm(each, { force: true }).catch(() => undefined);
      throw error;
    }
    if (former !== null) await rm(join(this.#folder, former.archive), { force: true });
  };

  async #read(): Promise<Kept | null> {
    return await readKept(join(this.#folder, `${this.#name}.json`));
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

/** Removes what was not used for a week, what is beyond the newest, and what a killed process left half. */
export async function removeOldSessions(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const notes = names.filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  const aged = await Promise.all(notes.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })));
  const kept = aged.toSorted((a, b) => b.at - a.at).filter(({ at }, index) => index < MAX_KEPT && now - at < KEEP_MS);
  const archives = await Promise.all(kept.map(async ({ name }) => (await readKept(join(folder, name)))?.archive));
  const wanted = new Set([...kept.map(({ name }) => name), ...archives]);
  for (const name of names) if (!wanted.has(name)) await rm(join(folder, name), { force: true });
}
