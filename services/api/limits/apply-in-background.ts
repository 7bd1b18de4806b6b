import { applyLimits, type Ledger } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';

/** Applies limits that changed to what waits. A chore does it again, also for what processes with the former limits do meanwhile. */
export function applyInBackground(ledger: Ledger, tenant: string, log: Log): void {
  applyLimits(ledger, tenant).catch((error: unknown) => log.warn({ err: error, tenant }, 'a chore applies the new limits to what waits'));
}
