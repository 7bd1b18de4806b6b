import { createHash, randomFillSync } from 'node:crypto';
import { decodeTime } from 'ulid';
import { z } from 'zod';
import { PLAIN_LINE } from '../text/index.ts';

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Each two digits of an id: ten bits. */
const PAIRS: readonly string[] = Array.from(DIGITS).flatMap((first) => Array.from(DIGITS, (second) => first + second));
const PAIR = PAIRS.length;
/** The last four digits of an id count within its millisecond. */
const COUNTS = PAIR * PAIR;
const TIME_PAIRS = 5;
const RANDOM_PAIRS = 6;

let madeAtMs = 0;
/** The digits before those that count. */
let beginning = '';
let counted = 0;

/** A new ULID: 26 letters and digits that sort by time, also within one millisecond of one process. */
export function newTaskId(): string {
  const now = Date.now();
  counted += 1;
  if (now > madeAtMs) beginIds(now);
  else if (counted === COUNTS) beginIds(madeAtMs + 1);
  return beginning + pairOf(Math.floor(counted / PAIR)) + pairOf(counted % PAIR);
}

/** Draws the random part of the ids of a millisecond: one draw serves all of them, because each is the one before plus one. */
function beginIds(ms: number): void {
  madeAtMs = ms;
  beginning = timeDigits(ms);
  for (let place = 0; place < RANDOM_PAIRS; place += 1) beginning += pairOf(randomBelow(PAIR));
  counted = randomBelow(COUNTS);
}

function timeDigits(ms: number): string {
  let digits = '';
  let rest = ms;
  for (let place = 0; place < TIME_PAIRS; place += 1) {
    digits = pairOf(rest % PAIR) + digits;
    rest = Math.floor(rest / PAIR);
  }
  return digits;
}

/** Digits of a name's digest in an id, before those that count. */
const NAME_DIGITS = 12;

/**
 * The id of one of the tasks that are made together, at a time, ms since the epoch: the same name, time and place always give the same id, and they
 * sort by place, from 0 to 1023 times 1024.
 */
export function taskIdFor(name: string, { ms, place }: { ms: number; place: number }): string {
  const digest = createHash('sha256').update(name).digest().subarray(0, NAME_DIGITS);
  const named = Array.from(digest, (byte) => DIGITS[byte % DIGITS.length]).join('');
  return timeDigits(ms) + named + pairOf(Math.floor(place / PAIR)) + pairOf(place % PAIR);
}

function pairOf(value: number): string {
  return PAIRS[value] ?? '';
}

const stock = new Uint32Array(1024);
let taken = stock.length;

/** From 0 to less than `end`, a power of two: of random bytes in stock, because a call for some costs more than the bytes. */
function randomBelow(end: number): number {
  if (taken === stock.length) {
    randomFillSync(stock);
    taken = 0;
  }
  const drawn = stock[taken] ?? 0;
  taken += 1;
  return drawn % end;
}

/** What every id of a task looks like; anything else cannot be one. */
export const TASK_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** When the task with this id was accepted, ms since the epoch. */
export function acceptedAt(id: string): number {
  return decodeTime(id);
}

/** A session's id in the address of one that may be there already, from before ids were checked for characters that are not seen. */
export const sessionIdSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'expected no control characters');

/** A session's id is any short text: a chat's number, a pull request's path. It names a lane, so it is part of a key. */
export const newSessionIdSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(
    PLAIN_LINE,
    'expected one line without control characters and without characters that are not seen or change the direction of text',
  );
