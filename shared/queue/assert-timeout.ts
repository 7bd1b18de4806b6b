import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';

/** Throws `request.invalid` when a tenant asks for longer runs than it may have; `what` is the field's name in the request. */
export function assertTimeout(ledger: Ledger, tenant: string, what: string, timeoutMs: number | undefined): void {
  const maxMs = Math.min(ledger.settings.tasks.maxTimeoutMs, ledger.limitsOf(tenant)?.maxTimeoutMs ?? Infinity);
  if (timeoutMs === undefined || timeoutMs <= maxMs) return;
  throw new MusterError('request.invalid', `${what}: expected at most ${maxMs} ms, got ${timeoutMs}`, { details: { maxTimeoutMs: maxMs } });
}
