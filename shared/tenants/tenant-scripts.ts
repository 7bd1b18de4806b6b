import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';

type ScriptName = 'create-tenant' | 'end-tenant' | 'find-key' | 'save-tenant' | 'set-state' | 'write-of-tenant';

const FOLDER = new URL('scripts', import.meta.url);
const SCRIPTS = loadScripts(fileURLToPath(FOLDER));

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runTenantScript<Reply>(
  redis: RedisClient,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runScript(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}

/** What every script that accepts or makes something includes as `tenant-state`. */
export function tenantStateInLua(): string {
  return readFileSync(new URL('scripts/include/tenant-state.lua', import.meta.url), 'utf8');
}
