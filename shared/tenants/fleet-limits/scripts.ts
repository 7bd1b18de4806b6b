import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SOURCE_CLASSES } from '../../config/index.ts';
import { loadScripts, type RedisClient, runScript, type Script } from '../../redis/index.ts';

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));

function scriptOf(name: 'replace-record' | 'take-fleet-rates'): Script {
  const script = SCRIPTS.get(name);
  if (!script) throw new Error(`The script ${name} is missing`);
  return script;
}

/** Writes a record, empty to remove it, unless it is another one than was seen; empty is none. Returns whether it did. */
export async function replaceRecord(redis: RedisClient, key: string, record: string, seen: string): Promise<boolean> {
  return (await runScript(redis, scriptOf('replace-record'), [key], [record, seen])) === 1;
}

const takenSchema = z.array(z.tuple([z.enum(SOURCE_CLASSES), z.int(), z.int(), z.string()]));

/** Takes room of the fleet's rates; see the header of the script for its arguments and answers. */
export async function takeFleetRates(redis: RedisClient, key: string, args: readonly string[]): Promise<z.infer<typeof takenSchema>> {
  return takenSchema.parse(await runScript(redis, scriptOf('take-fleet-rates'), [key], args));
}
