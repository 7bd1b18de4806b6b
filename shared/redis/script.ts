import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command, type Redis } from 'ioredis';
import type { RedisClient } from './connect-redis.ts';

/** A Lua script as the server knows it. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
  /** Length of the beginning of the source that calls share when several run together: the header and what it includes. */
  readonly preludeLength: number;
  /** Number of keys, read from its header; `[n...]` there means n - 1 and any number more. */
  readonly keyCount: number;
  readonly takesMoreKeys: boolean;
}

const INCLUDES = 'include';
const INCLUDE = /^-- include: (\S+)$/gm;

/**
 * Reads every `*.lua` of a folder, those in its sub-folders too, and resolves their `-- include: <name>` lines, also in what they include: from `fragments`, which are
 * made by the caller, else from `<name>.lua` in `include` or a folder of it.
 */
export function loadScripts(directory: string, fragments: Readonly<Record<string, string>> = {}): ReadonlyMap<string, Script> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));
  const read = (file: string): string => readFileSync(join(directory, file), 'utf8');
  const included = new Map(files.filter(isIncluded).map((file) => [basename(file, '.lua'), file]));
  const include = (name: string): string =>
    resolveIncludes(fragments[name] ?? read(included.get(name) ?? join(INCLUDES, `${name}.lua`)), include);
  const scripts = files.filter((file) => !isIncluded(file)).map((file) => readScript(basename(file, '.lua'), read(file), include));
  return new Map(scripts.map((script) => [script.name, script]));
}

function isIncluded(file: string): boolean {
  return file.startsWith(join(INCLUDES, '/'));
}

function resolveIncludes(text: string, include: (name: string) => string): string {
  return text.replaceAll(INCLUDE, (_, fragment: string) => include(fragment));
}

function readScript(name: string, text: string, include: (name: string) => string): Script {
  const bodyAt = [...text.matchAll(INCLUDE)].reduce((_, { index, 0: line }) => index + line.length, 0);
  const [prelude, body] = [resolveIncludes(text.slice(0, bodyAt), include), text.slice(bodyAt)];
  const source = `${prelude}${body}`;
  const keyCount = text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0;
  const takesMoreKeys = /^-- KEYS\[\d+\.\.\.\]/m.test(text);
  return { name, source, sha: digestOf(source), preludeLength: prelude.length, keyCount, takesMoreKeys };
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
  assertKeys(script, keys);
  return await evaluate(redis, script, keys, args);
}

export function assertKeys({ name, keyCount, takesMoreKeys }: Script, keys: readonly string[]): void {
  if (takesMoreKeys ? keys.length < keyCount : keys.length !== keyCount)
    throw new Error(`${name} takes ${keyCount} keys, not ${keys.length}`);
}

export async function evaluate(
  redis: RedisClient,
  { source, sha }: Pick<Script, 'source' | 'sha'>,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await sendCommand(redis, 'evalsha', [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await sendCommand(redis, 'eval', [source, keys.length, ...keys, ...args]);
  }
}

export function digestOf(source: string): string {
  return createHash('sha1').update(source).digest('hex');
}

/** One of several calls of a script. */
export interface ScriptCall {
  keys: readonly string[];
  args: readonly (string | number)[];
}

export function readAnswer(reply: unknown): unknown {
  const [isDone, answer]: unknown[] = Array.isArray(reply) ? reply : [];
  return isDone === 1 ? answer : new Error(String(answer));
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

/**
 * Sends what `send` sends at once in one write. Redis reads it together and answers it before it reads what comes next, and so works on that
 * while this process reads the answers; commands that arrive one by one would wait there, and be answered together with all behind them. The
 * client of a cluster has a connection for each node and still writes each command separately.
 */
export function sendInOneWrite(redis: RedisClient, send: () => void): void {
  // Not there before the first connection.
  const stream: Redis['stream'] | undefined = 'stream' in redis ? redis.stream : undefined;
  stream?.cork();
  try {
    send();
  } finally {
    stream?.uncork();
  }
}
