import type { TenantLimits } from '../config/index.ts';
import { CLASS_LETTERS } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { workerChannel } from './worker-channel.ts';

/** The first argument of the scripts that open the book: the tenant, its caps, and the bounds of what they write. */
export function bookOptions(ledger: Ledger, tenant: string): Record<string, unknown> {
  const { settings, keys } = ledger;
  const caps = capsOf(ledger.limitsOf(tenant));
  const channel = keys.shard(keys.shardOf(tenant)).signal;
  return {
    tenant,
    channel,
    workers: workerChannel(channel),
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
