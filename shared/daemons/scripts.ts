import { fileURLToPath } from 'node:url';
import { type Keys, loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import { tenantStateInLua } from '../tenants/index.ts';

export interface DaemonPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

type ScriptName = 'remove-daemon-state' | 'write-daemon' | 'write-daemon-states';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runDaemonScript<Reply>(
  redis: RedisClient,
  name: ScriptName,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runScript(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}
