import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ledgerScripts } from '#shared/ledger/ledger.ts';
import type { Script } from '#shared/redis/script.ts';

/** Loads a test's own script, which may include what the ledger's scripts include. */
export async function ownScript(source: string): Promise<Script> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-script-'));
  try {
    await cp('shared/ledger/scripts/include', join(folder, 'include'), { recursive: true });
    await writeFile(join(folder, 'own.lua'), source);
    return ledgerScripts(folder).get('own') as Script;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
