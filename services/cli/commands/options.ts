import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseExactJson } from '#shared/text/index.ts';
import { durationMs } from '#shared/time/index.ts';

/** What a command without other options takes. */
export interface JsonOptions {
  json?: boolean;
}

/** The options of a list that is read page by page. */
export function addPaging(command: Command, limit: string): Command {
  return command
    .option('--limit <count>', 'how many to list, at most 200', limit)
    .option('--cursor <cursor>', 'continue where the previous list ended')
    .option('--json', 'print the answer as JSON');
}

export function priorityOption(): Option {
  return new Option('--priority <1-10|name>', '10 runs first; or low, normal, high, critical').argParser(parsePriority);
}

export function withinOption(): Option {
  return new Option('--within <time>', 'how long it may take, such as 24h: until then its model calls may go by batches').argParser(
    parseTime,
  );
}

/** The text as it was written, for the server. */
function parseTime(text: string): string {
  try {
    durationMs(text);
    return text;
  } catch {
    throw new InvalidArgumentError('Expected a time such as 24h or 2 days.');
  }
}

export function contextOption(): Option {
  return new Option('--context <key=value>', 'passed to the agent; the value may be JSON; repeatable').argParser(parsePair);
}

export function hookOption(): Option {
  return new Option('--option <key=value>', 'how the sender signs and checks, such as header=X-Signature; repeatable').argParser(parsePair);
}

/** Adds `key=value` to the pairs given before. A value that is JSON is read as JSON, any other as text. */
function parsePair(pair: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const at = pair.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected key=value.');
  return { ...before, [pair.slice(0, at)]: parseValue(pair.slice(at + 1)) };
}

function parseValue(value: string): unknown {
  try {
    return parseExactJson(value, 'text');
  } catch {
    return value;
  }
}

const PRIORITIES = ['low', 'normal', 'high', 'critical'];

function parsePriority(text: string): number | string {
  if (PRIORITIES.includes(text)) return text;
  if (/^([1-9]|10)$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Expected 1 to 10, 10 first, or ${PRIORITIES.join(', ')}.`);
}

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 on, without a fraction.');
}

/** Names, separated by commas: a list that also holds what the option was given before. */
export function parseNames(list: string, before: readonly string[] = []): readonly string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new InvalidArgumentError('Expected names, separated by commas.');
  return [...new Set([...before, ...names])];
}
