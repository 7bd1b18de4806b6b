import { fileURLToPath } from 'node:url';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));

/** Runs one of this folder's scripts; what it answers is in its header. */
export async function runWaitScript<Reply>(
  redis: RedisClient,
  name: 'close-event' | 'keep-event',
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await runScript(redis, SCRIPTS.get(name) as Script, keys, args)) as Reply;
}
