import type { Rate, TenantLimits } from '../config/index.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The first argument of the scripts that accept tasks: that of all that open the book, and what a tenant may submit. */
export function admissionOptions(ledger: Ledger, tenant: string): string {
  const maxInLine = ledger.settings.sessions.maxWaiting;
  return JSON.stringify({ ...bookOptions(ledger, tenant), maxInLine, ...admission(ledger.limitsOf(tenant)) });
}

function admission(limits: TenantLimits | null): Record<string, unknown> {
  if (!limits) return {};
  const rates = Object.entries(limits.rates).map(([name, rate]) => [name, windowsOf(rate)]);
  return { rates: Object.fromEntries(rates) as unknown, ...(limits.waiting === null ? {} : { waiting: limits.waiting }) };
}

function windowsOf({ perMinute, perHour, burst }: Rate): Record<string, { everyMs: number; burst: number }> {
  return { minute: { everyMs: MINUTE_MS / perMinute, burst: burst ?? perMinute }, hour: { everyMs: HOUR_MS / perHour, burst: perHour } };
}
