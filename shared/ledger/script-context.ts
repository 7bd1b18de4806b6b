import type { Ledger } from './ledger.ts';
import type { TenantLimits, Rate } from '../config/index.ts';
import { CLASS_LETTERS } from '../tasks/index.ts';

/** Where a task is, and which lane it is in: what the scripts that move it need to find their keys. */
export interface TaskPlace {
  tenant: string;
  id: string;
  lane: string | null;
}

/** The first six keys of every script that opens the book. */
export function contextKeys(ledger: Ledger, tenant: string): string[] {
  const keys = ledger.keys.tenant(tenant);
  return [keys.states, keys.live, keys.index, keys.events, ledger.keys.shard(ledger.keys.shardOf(tenant)).outbox, keys.bodies];
}

/** The keys of the scripts that move one task, in their order; see the scripts' headers. */
export function taskKeys(ledger: Ledger, { tenant, id, lane }: TaskPlace): string[] {
  const keys = ledger.keys.tenant(tenant);
  const name = lane ?? laneOfTask(id);
  return [...contextKeys(ledger, tenant), keys.laneHeld(name), keys.laneWait(name)];
}

/** The lane that a task without one gets when it is given input; see `offerInput`. Whoever read it before that finds it by this. */
export function laneOfTask(id: string): string {
  return `task:${id}`;
}

/** The keys of the lanes of those that have one, in a call for many of a tenant's tasks. */
export function laneKeys(ledger: Ledger, tenant: string, places: readonly Pick<TaskPlace, 'lane'>[]): string[] {
  const keys = ledger.keys.tenant(tenant);
  return places.flatMap(({ lane }) => (lane === null ? [] : [keys.laneHeld(lane), keys.laneWait(lane)]));
}

/** The first argument of the scripts that open the book: the tenant, its caps, and the bounds of what they write. */
export function contextOptions(ledger: Ledger, tenant: string): Record<string, unknown> {
  const { settings, keys } = ledger;
  const caps = capsOf(ledger.limitsOf(tenant));
  const shard = keys.shard(keys.shardOf(tenant));
  return {
    tenant,
    channel: shard.signal,
    workers: shard.workerSignal,
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

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The first argument of the scripts that accept tasks: that of all that open the book, and what a tenant may submit. */
export function admissionOptions(ledger: Ledger, tenant: string): string {
  const maxInLine = ledger.settings.sessions.maxWaiting;
  return JSON.stringify({ ...contextOptions(ledger, tenant), maxInLine, ...admission(ledger.limitsOf(tenant)) });
}

function admission(limits: TenantLimits | null): Record<string, unknown> {
  if (!limits) return {};
  const rates = Object.entries(limits.rates).map(([name, rate]) => [name, windowsOf(rate)]);
  return { rates: Object.fromEntries(rates) as unknown, ...(limits.waiting === null ? {} : { waiting: limits.waiting }) };
}

function windowsOf({ perMinute, perHour, burst }: Rate): Record<string, { everyMs: number; burst: number }> {
  return { minute: { everyMs: MINUTE_MS / perMinute, burst: burst ?? perMinute }, hour: { everyMs: HOUR_MS / perHour, burst: perHour } };
}
