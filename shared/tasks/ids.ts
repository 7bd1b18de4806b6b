import { createHash, randomFillSync, randomUUID } from 'node:crypto';
import { monotonicFactory } from 'ulid';
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
  const [, traceId = randomHex(), , flags = '01'] = (parent !== undefined && TRACEPARENT.exec(parent)) || [];
  return `00-${traceId}-${randomHex().slice(0, SPAN_DIGITS)}-${flags}`;
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

/** 32 digits. A UUID, because Node keeps random bytes for those in stock: one is made per accepted task. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
