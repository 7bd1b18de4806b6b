import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

/** A Lua script as the server knows it. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
  /** Number of keys, read from its header; `[n...]` there means n - 1 and any number more. */
  readonly keyCount: number;
  readonly takesMoreKeys: boolean;
}

const INCLUDES = 'include';

/**
 * Reads every `*.lua` of a folder, those in its sub-folders too, and resolves their `-- include: <name>` lines: from `fragments`, which are
 * made by the caller, else from `include/<name>.lua`.
 */
export function loadScripts(directory: string, fragments: Readonly<Record<string, string>> = {}): ReadonlyMap<string, Script> {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const files = all.filter((file) => file.endsWith('.lua') && dirname(file) !== INCLUDES);
  const include = (name: string): string => fragments[name] ?? readFileSync(join(directory, INCLUDES, `${name}.lua`), 'utf8');
  return new Map(files.map((file) => [basename(file, '.lua'), readScript(join(directory, file), basename(file, '.lua'), include)]));
}

function readScript(path: string, name: string, include: (name: string) => string): Script {
  const text = readFileSync(path, 'utf8');
  const source = text.replaceAll(/^-- include: (\S+)$/gm, (_, fragment: string) => include(fragment));
  const keyCount = text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0;
  const takesMoreKeys = /^-- KEYS\[\d+\.\.\.\]/m.test(text);
  return { name, source, sha: createHash('sha1').update(source).digest('hex'), keyCount, takesMoreKeys };
}

/**
 * Runs a script by its digest, and by its source when the server does not have it yet.
 * Throws when the number of keys is not the header's; that is a mistake of the caller's.
 */
export async function runScript(
  redis: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  if (script.takesMoreKeys ? keys.length < script.keyCount : keys.length !== script.keyCount)
    throw new Error(`${script.name} takes ${script.keyCount} keys, not ${keys.length}`);
  try {
    return await sendCommand(redis, 'evalsha', [script.sha, keys.length, ...keys, ...args]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await sendCommand(redis, 'eval', [script.source, keys.length, ...keys, ...args]);
  }
}

/** In JSON: a backslash that stands for itself, or half of a character, which is written as an escape. */
const ESCAPES = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;
const REPLACEMENT = String.raw`\ufffd`;

/**
 * JSON that the scripts read too. Half a character (a text cut within an emoji) is JSON here but not in Lua, so it becomes the replacement
 * character, as on any other path to Redis.
 */
export function scriptJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes(String.raw`\ud`)) return json;
  return json.replaceAll(ESCAPES, (escape) => (escape === '\\\\' ? escape : REPLACEMENT));
}

/**
 * Sends a command at once and by itself, for calls that were gathered already. The client's automatic pipeline waits until the previous
 * pipeline is answered, so that Redis and this process would work by turns.
 */
export async function sendCommand(redis: RedisClient, name: string, args: (string | number)[]): Promise<unknown> {
  const command = new Command(name, args, { replyEncoding: 'utf8' });
  void redis.sendCommand(command);
  return await command.promise;
}
