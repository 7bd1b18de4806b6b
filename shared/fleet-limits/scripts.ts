import { fileURLToPath } from 'node:url';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));

/** Writes a record, empty to remove it, unless it is another one than was seen; empty is none. Returns whether it did. */
export async function replaceRecord(redis: RedisClient, key: string, record: string, seen: string): Promise<boolean> {
  return (await runScript(redis, SCRIPTS.get('replace-record') as Script, [key], [record, seen])) === 1;
}

/** Takes room of the fleet's rates; see the header of the script. */
export async function takeFleetRates(redis: RedisClient, key: string, args: readonly string[]): Promise<unknown[]> {
  return (await runScript(redis, SCRIPTS.get('take-fleet-rates') as Script, [key], args)) as unknown[];
}
