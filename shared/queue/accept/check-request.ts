import { MusterError } from '../../errors/index.ts';
import { isDeeper } from '../../tasks/index.ts';
import type { Ledger } from '../../ledger/index.ts';

/** Throws `request.too-large` for a text of more than `mostBytes`; `what` is its name in the request. */
export function assertBytes(what: string, text: string, mostBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return;
  throw new MusterError('request.too-large', `${what}: expected at most ${mostBytes} bytes, got ${bytes}`, {
    details: { bytes, mostBytes },
  });
}

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

/** Throws `request.invalid` when a tenant asks for longer runs than it may have; `what` is the field's name in the request. */
export function assertTimeout(ledger: Ledger, tenant: string, what: string, timeoutMs: number | undefined): void {
  const maxMs = Math.min(ledger.settings.tasks.maxTimeoutMs, ledger.limitsOf(tenant)?.maxTimeoutMs ?? Infinity);
  if (timeoutMs === undefined || timeoutMs <= maxMs) return;
  throw new MusterError('request.invalid', `${what}: expected at most ${maxMs} ms, got ${timeoutMs}`, { details: { maxTimeoutMs: maxMs } });
}
