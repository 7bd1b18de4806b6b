import { InvalidArgumentError } from 'commander';

/** Adds `key=value` to what was given before; a value that is JSON is taken as such, anything else as text. */
export function parsePair(pair: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const at = pair.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected key=value.');
  return { ...before, [pair.slice(0, at)]: parseValue(pair.slice(at + 1)) };
}

function parseValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const PRIORITIES = ['low', 'normal', 'high', 'critical'];

/** A number from 1 to 10, 10 first, or a name for one. */
export function parsePriority(text: string): number | string {
  if (PRIORITIES.includes(text)) return text;
  if (/^([1-9]|10)$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`Expected 1 to 10, 10 first, or ${PRIORITIES.join(', ')}.`);
}
