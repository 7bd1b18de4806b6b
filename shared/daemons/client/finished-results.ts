import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { AttemptName } from '../attempt-name.ts';
import { parseDaemonMessage } from '../protocol.ts';
import type { FinishedAttempt } from './attempts/attempt-report.ts';
import { isFinal } from './final-message.ts';

/** Keeps what an attempt came to until the hub has acknowledged it. */
export interface FinishedResults {
  /** Returns once it survives a loss of power. */
  save(finished: FinishedAttempt): Promise<void>;
  remove(name: AttemptName): Promise<void>;
  /** All that is kept, and the names of files that cannot be read. */
  load(): Promise<{ readonly finished: readonly FinishedAttempt[]; readonly unreadable: readonly string[] }>;
}

const SUFFIX = '.json';

const recordSchema = z.object({
  // Read by the schema of the message itself.
  final: z.unknown(),
  output: z.array(z.object({ seq: z.int().min(1), text: z.string() })),
});

/** A file per attempt in `folder`, which is made when needed and which only this user may read. */
export function keepOnDisk(folder: string): FinishedResults {
  return {
    save: async (finished) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, fileOf(finished.final));
      await writeDurably(`${path}.new`, JSON.stringify(finished));
      await rename(`${path}.new`, path);
      await syncFolder(folder);
    },
    remove: (name) => rm(join(folder, fileOf(name)), { force: true }),
    load: () => loadAll(folder),
  };
}

/** For a daemon without a folder: results live as long as its process, which keeps them in memory anyway. */
export const KEEP_IN_MEMORY: FinishedResults = {
  save: () => Promise.resolve(),
  remove: () => Promise.resolve(),
  load: () => Promise.resolve({ finished: [], unreadable: [] }),
};

/** The hub chooses the id of a task, so it names no path. */
function fileOf({ taskId, token }: AttemptName): string {
  return `${encodeURIComponent(taskId).replaceAll('.', '%2E')}-${token}${SUFFIX}`;
}

async function loadAll(folder: string): ReturnType<FinishedResults['load']> {
  const finished: FinishedAttempt[] = [];
  const unreadable: string[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(SUFFIX))) {
    const path = join(folder, name);
    const found = parseRecord(await readFile(path, 'utf8').catch(() => ''));
    if (found === null) unreadable.push(path);
    else finished.push(found);
  }
  return { finished, unreadable };
}

function parseRecord(text: string): FinishedAttempt | null {
  try {
    const { final, output } = recordSchema.parse(JSON.parse(text));
    const parsed = parseDaemonMessage(JSON.stringify(final));
    return parsed.ok && isFinal(parsed.message) ? { final: parsed.message, output } : null;
  } catch {
    return null;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Windows cannot open a folder, and makes names durable by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
