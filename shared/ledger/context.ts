import type { Settings, SourceClass, TenantLimits } from '../config/index.ts';
import type { FleetShare } from '../tenants/index.ts';
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

/** What one tenant's call of a script that opens a context has: the first argument is the context's options, and `args` follow. */
export interface TenantCall {
  tenant: string;
  keys: readonly string[];
  options?: Record<string, unknown>;
  args: readonly (string | number)[];
}

/** Runs a script that may let tickets out, also of other tenants. Passes those on to `onTicket` and returns the rest of the reply. */
export async function runInContext(ledger: Ledger, { script, ...call }: TenantCall & { script: ScriptName }): Promise<unknown[]> {
  const options = { ...commonOptions(ledger, call.tenant), ...ownOptions(ledger, call) };
  const [tickets, ...rest] = (await ledger.run(script, call.keys, [JSON.stringify(options), ...call.args])) as unknown[];
  addTickets(ledger, tickets);
  return rest;
}

/** The same for several tenants of one shard, in one round trip. Answers in order; the error of one tenant's call is its own. */
export async function runInContexts(ledger: Ledger, script: ScriptName, calls: readonly TenantCall[]): Promise<(unknown[] | Error)[]> {
  const [first, second] = calls;
  if (first && !second) return [await runInContext(ledger, { script, ...first })];
  const together = calls.map((call) => ({ keys: call.keys, args: [JSON.stringify(ownOptions(ledger, call)), ...call.args] }));
  const { replies, end } = await ledger.runTogether(script, together, JSON.stringify(commonOptions(ledger, first?.tenant ?? '')));
  addTickets(ledger, end);
  return replies.map((reply) => (reply instanceof Error ? reply : (reply as unknown[]).slice(1)));
}

function addTickets(ledger: Ledger, tickets: unknown): void {
  for (const ticket of parseTickets(tickets as string[])) ledger.onTicket(ticket);
}

/** The keys of the shard that has the tenant. */
export function shardKeys({ keys }: Pick<Ledger, 'keys'>, tenant: string): ShardKeys {
  return keys.shard(keys.shardOf(tenant));
}

/** The group of calls that may go into one script with those of other tenants of the shard. */
export function shardGroup({ keys }: Pick<Ledger, 'keys'>, tenant: string): string {
  return `${keys.shardOf(tenant)}`;
}

/** The first ten keys of every script that opens a context. */
export function contextKeys(ledger: Ledger, tenant: string): string[] {
  const keys = ledger.keys.tenant(tenant);
  const { outbox, ready, jobs, turns, weights } = shardKeys(ledger, tenant);
  return [keys.states, keys.live, keys.index, keys.events, outbox, keys.bodies, ready, jobs, turns, weights];
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

type LimitPorts = Pick<Ledger, 'settings' | 'limitsOf' | 'agentCapsOf'>;

/** Lanes of agents by the figures of their tenant, and of its own agents; these hold for all of its tasks. */
export function agentLanes({ limitsOf, agentCapsOf }: Omit<LimitPorts, 'settings'>, tenant: string): Record<string, number> {
  const own = Object.entries(agentCapsOf?.(tenant) ?? {}).filter(([, max]) => max > 0);
  const figures = Object.entries(limitsOf(tenant)?.runningByAgent ?? {});
  return Object.fromEntries([...own, ...figures].map(([agent, max]) => [laneOfAgent(agent), max]));
}

/** More than run at once anywhere. */
const NO_BOUND = 1e9;

/** Lanes of agents that had a bound, which tasks still name. */
function openLanes({ agentCapsOf }: Pick<LimitPorts, 'agentCapsOf'>, tenant: string): Record<string, number> {
  const open = Object.entries(agentCapsOf?.(tenant) ?? {}).filter(([, max]) => max === 0);
  return Object.fromEntries(open.map(([agent]) => [laneOfAgent(agent), NO_BOUND]));
}

const configuredLanes = new WeakMap<Settings, Record<string, number>>();

/** Limits of lanes and agents by the configuration. */
function lanesOf(settings: Settings): Record<string, number> {
  const known = configuredLanes.get(settings);
  if (known) return known;
  const { reserveAfterMs: _reserveAfterMs, ...byName } = settings.lanes;
  const named = Object.entries(byName).map(([name, { limit }]) => [name, limit] as const);
  const agents = Object.entries(settings.agents).flatMap(([id, { maxRunning }]) =>
    maxRunning === undefined ? [] : [[laneOfAgent(id), maxRunning] as const],
  );
  const lanes = Object.fromEntries([...named, ...agents]);
  configuredLanes.set(settings, lanes);
  return lanes;
}

/** How much is kept of what a tenant's agents used, as `count-usage.lua` takes it. */
export function usageBounds({ settings: { usage } }: Pick<Ledger, 'settings'>): Record<string, number> {
  return { maxRows: usage.maxRows, keepSeconds: usage.retentionDays * 86_400 };
}

/** The keys of the lanes of the places that have one, in a call for many of a tenant's tasks. */
export function laneKeys(ledger: Ledger, tenant: string, places: readonly Pick<TaskPlace, 'lane'>[]): string[] {
  const keys = ledger.keys.tenant(tenant);
  return places.flatMap(({ lane }) => (lane === null ? [] : [keys.laneHeld(lane), keys.laneWait(lane)]));
}

/** The options that contexts of all tenants of a shard have: its channels, lanes, and the bounds of what the scripts write. */
function commonOptions(ledger: Ledger, tenant: string): Record<string, unknown> {
  const { settings } = ledger;
  const lanes = lanesOf(settings);
  const shard = shardKeys(ledger, tenant);
  return {
    channel: shard.signal,
    workers: shard.workerSignal,
    maxEvents: `${settings.events.maxPerTenant}`,
    maxTimelineBytes: settings.tasks.maxTimelineBytes,
    maxInLine: settings.sessions.maxWaiting,
    reserveAfterMs: settings.lanes.reserveAfterMs,
    ...(Object.keys(lanes).length > 0 ? { laneLimits: lanes } : {}),
    lookAhead: settings.dispatch.lookAhead,
  };
}

/** The options of one tenant's context: the tenant, its caps, and those of the call. */
function ownOptions(ledger: Ledger, { tenant, options }: Pick<TenantCall, 'tenant' | 'options'>): Record<string, unknown> {
  const limits = ledger.limitsOf(tenant);
  const caps = capsOf(ledger, tenant);
  const lanes = agentLanes(ledger, tenant);
  const open = openLanes(ledger, tenant);
  return {
    tenant,
    ...(caps ? { caps } : {}),
    ...(limits && limits.weight !== 1 ? { weight: limits.weight } : {}),
    ...(Object.keys(lanes).length > 0 ? { agentLanes: lanes } : {}),
    ...(Object.keys(open).length > 0 ? { openLanes: open } : {}),
    ...options,
  };
}

/** The caps of a tenant as the scripts know them: its own, and its share of the fleet's. Null for none. */
export function capsOf(
  { limitsOf, fleetShareOf }: Pick<Ledger, 'limitsOf' | 'fleetShareOf'>,
  tenant: string,
): Record<string, unknown> | null {
  const caps = { ...ownCaps(limitsOf(tenant)), ...fleetCaps(fleetShareOf?.(tenant) ?? null) };
  return Object.keys(caps).length > 0 ? caps : null;
}

function ownCaps(limits: TenantLimits | null): Record<string, number> {
  const caps: Record<string, number> = {};
  if (!limits) return caps;
  if (limits.running !== null) caps['running'] = limits.running;
  if (limits.runningLow !== null) caps['low'] = limits.runningLow;
  for (const [name, letter] of Object.entries(CLASS_LETTERS)) {
    const cap = limits.runningByClass[name as keyof typeof CLASS_LETTERS];
    if (cap !== undefined) caps[letter] = cap;
  }
  return caps;
}

function fleetCaps(share: FleetShare | null): { fleet?: Record<string, number> } {
  if (share === null) return {};
  const named = Object.entries(share.shares).map(([name, count]) => [name === 'low' ? name : CLASS_LETTERS[name as SourceClass], count]);
  return { fleet: { ends: share.ends, ...Object.fromEntries(named) } };
}
