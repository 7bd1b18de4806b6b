import { fileURLToPath } from 'node:url';
import { loadScripts, type RedisClient, runGathered, type Script } from '../redis/index.ts';
import { tenantStateInLua } from '../tenants/index.ts';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)), { 'tenant-state': tenantStateInLua() });

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runBudgetScript<Reply>(
  redis: RedisClient,
  name: 'grant-room' | 'raise-spent' | 'release-ended' | 'reserve-spend' | 'settle-spend' | 'write-budget',
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runGathered(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}
