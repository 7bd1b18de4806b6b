import { TASK_QUEUES, type TenantLimits } from '../config/index.ts';
import type { ShardKeys } from '../redis/index.ts';
import { CLASS_LETTERS } from '../tasks/index.ts';
import { parseTickets } from './grants/tickets.ts';
import type { Ledger, ScriptName } from './ledger.ts';

/** Where a task is, and which lane it is in: what the scripts that move it need to find their keys. */
export interface TaskPlace {
  tenant: string;
  id: string;
  lane: string | null;
}

/** A call of a script that opens a context: the first argument is the context's options, and `args` follow. */
interface ContextCall {
  script: ScriptName;
  tenant: string;
  keys: readonly string[];
  options?: Record<string, unknown>;
  args: readonly (string | number)[];
}

/** Runs a script that may let tickets out, also of other tenants. Passes those on to `onTicket` and returns the rest of the reply. */
export async function runInContext(ledger: Ledger, { script, tenant, keys, options, args }: ContextCall): Promise<unknown[]> {
  const context = JSON.stringify({ ...contextOptions(ledger, tenant), ...options });
  const [tickets, ...reply] = (await ledger.run(script, keys, [context, ...args])) as [string[], ...unknown[]];
  for (const ticket of parseTickets(tickets)) ledger.onTicket(ticket);
  return reply;
}

/** The keys of the shard that has the tenant. */
export function shardKeys({ keys }: Pick<Ledger, 'keys'>, tenant: string): ShardKeys {
  return keys.shard(keys.shardOf(tenant));
}

/** The first ten keys of every script that opens a context. */
export function contextKeys(ledger: Ledger, tenant: string): string[] {
  const keys = ledger.keys.tenant(tenant);
  const { outbox, ready, window, turns, weights } = shardKeys(ledger, tenant);
  return [keys.states, keys.live, keys.index, keys.events, outbox, keys.bodies, ready, window, turns, weights];
}

/** The first twelve keys of the scripts that move one task. */
export function taskKeys(ledger: Ledger, { tenant, id, lane }: TaskPlace): string[] {
  const keys = ledger.keys.tenant(tenant);
  const name = lane ?? laneOfTask(id);
  return [...contextKeys(ledger, tenant), keys.laneHeld(name), keys.laneWait(name)];
}

/** The lane that a task without a lane gets when it is given input; see `offerInput`. A place read before that finds it by this. */
export function laneOfTask(id: string): string {
  return `task:${id}`;
}

/** The lane that all tasks of an agent share when it may run only so many at once. */
export function laneOfAgent(agent: string): string {
  return `agent:${agent}`;
}

/** Limits of lanes that hold now, whatever the limit was when a task was accepted. */
export function laneLimits(limits: TenantLimits | null): Record<string, number> {
  return Object.fromEntries(Object.entries(limits?.runningByAgent ?? {}).map(([agent, max]) => [laneOfAgent(agent), max]));
}

/** The keys of the lanes of the places that have one, in a call for many of a tenant's tasks. */
export function laneKeys(ledger: Ledger, tenant: string, places: readonly Pick<TaskPlace, 'lane'>[]): string[] {
  const keys = ledger.keys.tenant(tenant);
  return places.flatMap(({ lane }) => (lane === null ? [] : [keys.laneHeld(lane), keys.laneWait(lane)]));
}

/** The options of a context: the tenant, its caps, and the bounds of what the script writes. */
function contextOptions(ledger: Ledger, tenant: string): Record<string, unknown> {
  const { settings } = ledger;
  const limits = ledger.limitsOf(tenant);
  const caps = capsOf(limits);
  const lanes = laneLimits(limits);
  const shard = shardKeys(ledger, tenant);
  return {
    tenant,
    channel: shard.signal,
    workers: shard.workerSignal,
    maxEvents: settings.events.maxPerTenant,
    maxTimelineBytes: settings.tasks.maxTimelineBytes,
    ...(caps ? { caps } : {}),
    ...(limits && limits.weight !== 1 ? { weight: limits.weight } : {}),
    ...windowOptions(ledger),
    ...(Object.keys(lanes).length > 0 ? { laneLimits: lanes } : {}),
  };
}

/**
 * How many unclaimed tickets of each queue may be in BullMQ: one for each slot, and some for the time until the next ones come. Queues that
 * are not named have the latter.
 */
export function windowOptions({
  settings,
  offeredSlots,
  pace,
}: Pick<Ledger, 'settings' | 'offeredSlots' | 'pace'>): Record<string, unknown> {
  const { lookAhead } = settings.dispatch;
  const sizes = TASK_QUEUES.map((queue) => [queue, lookAhead + (offeredSlots?.(queue) ?? 0) + pace.of(queue)] as const);
  return { lookAhead, windows: Object.fromEntries(sizes.filter(([, size]) => size > lookAhead)) };
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
