import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Coding agents that keep sessions as the real ones do, where programs of any user can start them. */
export interface FakeCoders {
  readonly claude: string[];
  readonly codex: string[];
  /** The same, as it asks for approvals. */
  readonly codexServer: string[];
}

export async function placeFakeCoders(folder: string): Promise<FakeCoders> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const place = async (name: string): Promise<string[]> => {
    const path = join(folder, `${name}.mjs`);
    await copyFile(join(import.meta.dirname, `${name}.mjs`), path);
    await chmod(path, 0o644);
    return [process.execPath, path];
  };
  return { claude: await place('fake-claude'), codex: await place('fake-codex'), codexServer: await place('fake-codex-server') };
}
