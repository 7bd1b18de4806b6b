import type { TenantLimits } from '../config/settings.ts';
import type { Ledger } from './ledger.ts';

/** Letters of the source classes, as grants and caps are counted by them. */
export const CLASS_LETTERS = { delegation: 'd', proactive: 'p', schedule: 's', user: 'u', webhook: 'w' } as const;

/** The first argument of the scripts that open the book: the tenant, its caps, and the bounds of what they write. */
export function bookOptions(ledger: Ledger, tenant: string): Record<string, unknown> {
  const { settings, keys } = ledger;
  const caps = capsOf(ledger.limitsOf(tenant));
  return {
    tenant,
    channel: keys.shard(keys.shardOf(tenant)).signal,
    maxEvents: settings.events.maxPerTenant,
    maxTimelineBytes: settings.tasks.maxTimelineBytes,
    ...(caps ? { caps } : {}),
  };
}

function capsOf(limits: TenantLimits | null): Record<string, number> | null {
  if (!limits) return null;
  const caps: Record<string, number> = {};
  if (limits.running !== null) caps['running'] = limits.running;
  if (limits.runningLow !== null) caps['low'] = limits.runningLow;
  for (const [name, letter] of Object.entries(CLASS_LETTERS)) {
    const cap = limits.runningByClass[name as keyof typeof CLASS_LETTERS];
    if (cap !== undefined) caps[letter] = cap;
  }
  return Object.keys(caps).length > 0 ? caps : null;
}
