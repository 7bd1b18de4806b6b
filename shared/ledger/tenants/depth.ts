import { z } from 'zod';
import type { TenantDemand } from '../../tenants/index.ts';
import { CLASS_LETTERS } from '../../tasks/index.ts';
import { parseLease } from '../claim/leases.ts';
import type { Ledger } from '../ledger.ts';

const levelSchema = z.enum(['none', 'warning', 'critical']);
/** How much work a tenant has, by `limits.backpressure`. */
export type PressureLevel = z.infer<typeof levelSchema>;

const boundSchema = z.enum(['caps', 'slots']);
/** What its tasks mostly wait for: a place under a cap, which more workers do not give, or a slot. */
export type PressureBound = z.infer<typeof boundSchema>;

/** What the caller knows of a tenant, for the script that decides on its level. */
export interface PressureFacts {
  /** Attempts of the tenant that run. */
  running: number;
  /** Milliseconds between two starts of its tasks while others waited; null when unknown. */
  msPerStart: number | null;
  /** Milliseconds between two grants at a full cap; null when unknown, or without a cap. */
  msPerGrant: number | null;
  /** Tasks refused since the last call, by `<source>|<band>`. */
  refused: Readonly<Record<string, number>>;
}

/** The load of a tenant. */
export interface PressureReading {
  level: PressureLevel;
  /** The level before this call; another one means that this call published the change. */
  previous: PressureLevel;
  /** Tasks that have not ended. */
  depth: number;
  /** Estimated wait of the tenant's next task; null when unknown. */
  waitMs: number | null;
  bound: PressureBound;
}

const NO_FACTS: PressureFacts = { running: 0, msPerStart: null, msPerGrant: null, refused: {} };
const replySchema = z.tuple([levelSchema, levelSchema, z.number(), z.number(), boundSchema]);

/** Publishes an event to the tenant's stream when its level has changed since the last call of any process. */
export async function updatePressure(ledger: Ledger, tenant: string, facts: PressureFacts = NO_FACTS): Promise<PressureReading> {
  const { keys } = ledger;
  const own = keys.tenant(tenant);
  const shard = keys.shard(keys.shardOf(tenant));
  const args = [JSON.stringify(optionsOf(ledger, tenant, facts)), JSON.stringify(facts.refused)];
  const reply = await ledger.run('update-pressure', [own.live, shard.pressure, own.events, own.shed], args);
  const [level, previous, depth, waitMs, bound] = replySchema.parse(reply);
  return { level, previous, depth, waitMs: waitMs < 0 ? null : waitMs, bound };
}

/** The options of the script. A null is left out, because Lua would read it as a value. */
function optionsOf({ keys, settings }: Ledger, tenant: string, { running, msPerStart, msPerGrant }: PressureFacts): object {
  const { slowDown, warningDepth, warningWaitMs, criticalDepth, criticalWaitMs, recoverAt, shedEventMs } = settings.limits.backpressure;
  return {
    tenant,
    channel: keys.shard(keys.shardOf(tenant)).signal,
    maxEvents: settings.events.maxPerTenant,
    warning: { depth: warningDepth, waitMs: warningWaitMs ?? undefined },
    critical: { depth: criticalDepth, waitMs: criticalWaitMs ?? undefined },
    recoverAt,
    shedEventMs,
    slowDown,
    running,
    msPerStart: msPerStart ?? undefined,
    msPerGrant: msPerGrant ?? undefined,
  };
}

/** Tenants of a shard that have a level. */
export async function listPressed({ redis, keys }: Ledger, shard: number): Promise<string[]> {
  return await redis.hkeys(keys.shard(shard).pressure);
}

/** Tenants with a level as it was published to them, critical ones first. */
export async function readPressedTenants({ redis, keys }: Ledger): Promise<{ tenant: string; level: 'warning' | 'critical' }[]> {
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).pressure);
  const levels = (await Promise.all(shards.map((key) => redis.hgetall(key)))).flatMap((each) => Object.entries(each));
  const pressed = levels.flatMap(([tenant, level]) => (level === 'warning' || level === 'critical' ? [{ tenant, level } as const] : []));
  return pressed.toSorted((one, other) => (one.level < other.level ? -1 : one.level > other.level ? 1 : 0));
}

/** Tenants read with one round trip. */
const PAGE = 200;

/**
 * How many lookups each of these tenants has: of tasks that have not ended (`live`), or of all that are kept (`index`); those that have
 * none are left out. Reading a count costs next to nothing, so that a chore can skip thousands of quiet tenants.
 */
export async function tenantsWithTasks(
  { redis, keys }: Ledger,
  tenants: readonly { id: string }[],
  lookups: 'live' | 'index',
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < tenants.length; from += PAGE) {
    const page = tenants.slice(from, from + PAGE);
    if (!(await haveAny({ redis, keys }, page, lookups))) continue;
    const counts = await Promise.all(page.map(({ id }) => redis.zcard(keys.tenant(id)[lookups])));
    for (const [position, { id }] of page.entries()) {
      const count = counts[position] ?? 0;
      if (count > 0) found.set(id, count);
    }
  }
  return found;
}

/** Whether any of these tenants has such lookups: one command for each shard, however many tenants are quiet. */
async function haveAny(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  tenants: readonly { id: string }[],
  lookups: 'live' | 'index',
): Promise<boolean> {
  const names = Map.groupBy(tenants, ({ id }) => keys.shardOf(id)).values();
  const counts = await Promise.all([...names].map((own) => redis.exists(...own.map(({ id }) => keys.tenant(id)[lookups]))));
  return counts.some((count) => count > 0);
}

/** How many tasks a tenant has that have not ended, and of these how many have a grant: they run or wait for a slot. */
export async function readDepth({ redis, keys }: Ledger, tenant: string): Promise<{ depth: number; granted: number }> {
  const { live } = keys.tenant(tenant);
  const count = (prefix: string): Promise<number> => redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00FF`);
  const [all, granted, ...listedTwice] = await Promise.all([
    redis.zcard(live),
    count('granted='),
    ...['backlog=', 'hold=', 'holds=', 'passed=', 'waits='].map(count),
  ]);
  return { depth: listedTwice.reduce((left, copies) => left - copies, all), granted };
}

/** How many attempts run, by tenant. */
export async function countRunning({ redis, keys }: Ledger): Promise<ReadonlyMap<string, number>> {
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).leases);
  const members = (await Promise.all(shards.map((leases) => redis.zrange(leases, '0', '-1')))).flat();
  const byTenant = Map.groupBy(members, (member) => parseLease(member).tenant);
  return new Map([...byTenant].map(([tenant, leases]) => [tenant, leases.length]));
}

/** How many tasks of a tenant have a grant, and how many wait for a cap, by source class and of low priority. */
export async function readDemand(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  tenant: string,
): Promise<Pick<TenantDemand, 'granted' | 'waiting'>> {
  const { live } = keys.tenant(tenant);
  const count = (prefix: string): Promise<number> => redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00FF`);
  const read = async (kind: 'granted' | 'backlog'): Promise<TenantDemand['granted']> => {
    const byClass = await Promise.all(
      Object.entries(CLASS_LETTERS).map(async ([name, letter]) => {
        const [ordinary, low] = await Promise.all([count(`${kind}=${letter}1`), count(`${kind}=${letter}0`)]);
        return { name, all: ordinary + low, low };
      }),
    );
    const low = byClass.reduce((sum, each) => sum + each.low, 0);
    return { ...Object.fromEntries(byClass.map(({ name, all }) => [name, all])), low };
  };
  const [granted, waiting] = await Promise.all([read('granted'), read('backlog')]);
  return { granted, waiting };
}
