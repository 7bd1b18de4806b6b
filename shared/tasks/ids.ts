import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { decodeTime, monotonicFactory } from 'ulid';
import { z } from 'zod';

/** Random bytes in stock: an id in a new millisecond takes sixteen, and each call for some costs more than the bytes. */
const stock = new Uint8Array(4096);
let taken = stock.length;

/** From 0 to less than 1. */
function randomFraction(): number {
  if (taken === stock.length) {
    randomFillSync(stock);
    taken = 0;
  }
  const byte = stock[taken] ?? 0;
  taken += 1;
  return byte / 256;
}

/** A new id: 26 letters and digits that sort by time, also within one millisecond of one process. */
export const newTaskId: () => string = monotonicFactory(randomFraction);

/** What every id of a task looks like; anything else cannot be one. */
export const TASK_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** When the task with this id was accepted, ms since the epoch. */
export function acceptedAt(id: string): number {
  return decodeTime(id);
}

/** A session's id is any short text: a chat's number, a pull request's path. It names a lane, so it is part of a key. */
export const sessionIdSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'expected no control characters');

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
/** All zeroes is no id. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** W3C trace context for a new span: of the caller's trace when it sent a valid one, else of a new trace. */
export function childTraceparent(parent?: string): string {
  const [, traceId = randomHex(TRACE_DIGITS), , flags = '01'] = (parent !== undefined && TRACEPARENT.exec(parent)) || [];
  return `00-${traceId}-${randomHex(SPAN_DIGITS)}-${flags}`;
}

/** W3C trace context of a trace that belongs to this id alone: the same id always gives the same trace. */
export function traceparentFor(id: string): string {
  const digits = createHash('sha256').update(id).digest('hex');
  return `00-${digits.slice(0, TRACE_DIGITS)}-${digits.slice(TRACE_DIGITS, TRACE_DIGITS + SPAN_DIGITS)}-01`;
}

/** The trace's own id, 32 hexadecimal digits. */
export function traceIdOf(traceparent: string): string {
  return TRACEPARENT.exec(traceparent)?.[1] ?? '';
}

/** Random digits in stock: making and writing them one id at a time costs more than all else of an id. */
const DIGITS_IN_STOCK = 8192;
let digitsInStock = '';
let digitsUsed = 0;

/** So many hexadecimal digits, at most those of a trace. */
function randomHex(count: number): string {
  if (digitsUsed + count > digitsInStock.length) {
    digitsInStock = randomBytes(DIGITS_IN_STOCK / 2).toString('hex');
    digitsUsed = 0;
  }
  digitsUsed += count;
  return digitsInStock.slice(digitsUsed - count, digitsUsed);
}
