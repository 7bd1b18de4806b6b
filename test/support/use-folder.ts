import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** An empty folder for all tests of a file, removed after the last: its path, without symbolic links. */
export async function useFolder(prefix = 'muster-test-'): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
