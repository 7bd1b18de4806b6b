import { MusterError } from '../errors/index.ts';
import { isDeeper } from '../tasks/index.ts';
import { assertBytes } from './assert-bytes.ts';

/** Levels of objects and lists in each other. Redis reads a thousand, and whoever is handed a context reads it level by level. */
const MOST_LEVELS = 100;

/** Throws `request.too-large` or `request.invalid` for what a task cannot carry besides its input; `what` is its name in the request. */
export function assertContext(what: string, value: unknown, mostBytes: number): void {
  if (isDeeper(value, MOST_LEVELS)) {
    throw new MusterError('request.invalid', `${what}: expected at most ${MOST_LEVELS} levels of objects and lists in each other`, {
      details: { mostLevels: MOST_LEVELS },
    });
  }
  assertBytes(what, JSON.stringify(value), mostBytes);
}
