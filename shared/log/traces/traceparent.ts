import { createHash, randomBytes } from 'node:crypto';

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
/** All zeroes is no id. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** W3C trace context for a new span: of the caller's trace when it sent a valid one, else of a new trace. */
export function childTraceparent(parent?: string): string {
  if (parent !== lastParent) [lastParent, lastTrace] = [parent, readParent(parent)];
  const { traceId = randomHex(TRACE_DIGITS), flags } = lastTrace;
  return `00-${traceId}-${randomHex(SPAN_DIGITS)}-${flags}`;
}

/** The context of what asked for a task, where that is valid; else one of a new trace. */
export function traceparentOf(given?: string): string {
  return given !== undefined && TRACEPARENT.test(given) ? given : childTraceparent();
}

interface ParentTrace {
  /** Absent for a caller without a trace. */
  traceId?: string | undefined;
  flags: string;
}

/** The caller of many tasks sends one trace for all of them. */
let lastParent: string | undefined;
let lastTrace: ParentTrace = { flags: '01' };

function readParent(parent: string | undefined): ParentTrace {
  const [, traceId, , flags = '01'] = (parent !== undefined && TRACEPARENT.exec(parent)) || [];
  return { traceId, flags };
}

/** W3C trace context of a trace that belongs to this id alone: the same id always gives the same trace. */
export function traceparentFor(id: string): string {
  const digits = createHash('sha256').update(id).digest('hex');
  return `00-${digits.slice(0, TRACE_DIGITS)}-${digits.slice(TRACE_DIGITS, TRACE_DIGITS + SPAN_DIGITS)}-01`;
}

/** The context of an attempt's own span, in the trace of its task: the same attempt always has the same one, so that others can name it before and after. */
export function attemptTraceparent({ id, traceparent }: { id: string; traceparent: string }, token: number): string {
  const [, traceId = '', , flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const digits = createHash('sha256').update(`${id}/${token}`).digest('hex');
  return `00-${traceId}-${digits.slice(0, SPAN_DIGITS)}-${flags}`;
}

/** The ids in a W3C trace context, and whether its trace is recorded; null for what is none. */
export function parseTraceparent(traceparent: string): { traceId: string; spanId: string; isSampled: boolean } | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: isSampled(Number.parseInt(flags, 16)) };
}

const SAMPLED = 1;

/** Whether a trace with these flags is recorded. */
export function isSampled(flags: number): boolean {
  return (flags & SAMPLED) === SAMPLED;
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
