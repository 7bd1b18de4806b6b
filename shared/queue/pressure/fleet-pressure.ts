import pMap from 'p-map';
import { z } from 'zod';
import { countRunning, type Ledger, type PressureLevel, readDepth, tenantsWithTasks } from '../../ledger/index.ts';
import { readThroughput } from '../../metrics/index.ts';
import { fullestOf, readMemory, redisNow } from '../../redis/index.ts';
import { levelOf, type Load } from './signal.ts';

const storedSchema = z.object({
  level: z.enum(['none', 'warning', 'critical']),
  depth: z.number(),
  waitMs: z.number().nullable(),
  /** Absent in what a release before wrote. */
  memory: z.number().nullable().default(null),
  /** Tasks with a grant that did not run. */
  waiting: z.number(),
  /** By Redis's clock, ms. */
  at: z.number(),
});
type Stored = z.infer<typeof storedSchema>;

/** The load of the fleet and its level. */
export interface FleetPressure extends Load {
  level: PressureLevel;
}

export const NO_PRESSURE: FleetPressure = { level: 'none', depth: 0, waitMs: null };
/** A level that no chore has confirmed for so long counts no more. */
const STALE_MS = 60_000;
/** Tenants read at once. */
const CONCURRENCY = 20;
const MINUTE_MS = 60_000;

/** The level of the fleet as the chore read it last. */
export async function readFleetPressure({ redis, keys }: Ledger): Promise<FleetPressure> {
  const [stored, now] = await Promise.all([readStored({ redis, keys }), redisNow(redis)]);
  return stored === null || now - stored.at > STALE_MS ? NO_PRESSURE : stored;
}

async function readStored({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>): Promise<Stored | null> {
  const text = await redis.get(keys.fleet.pressure);
  return text === null ? null : storedSchema.parse(JSON.parse(text));
}

/** Reads what all tenants have to do, and stores the fleet's level. One chore does this. */
export async function updateFleetPressure(
  ledger: Ledger,
  tenants: readonly { id: string }[],
): Promise<FleetPressure & { previous: PressureLevel }> {
  const { redis, keys, settings } = ledger;
  const { fleet, recoverAt } = settings.limits.backpressure;
  const previous = await readStored(ledger);
  const { depth, waiting } = await sumDepths(ledger, tenants);
  const waitMs = await estimateWait(ledger, Math.min(waiting, previous?.waiting ?? 0));
  const load = { depth, waitMs, memory: fullestOf(await readMemory(redis))?.share ?? null };
  const level = levelOf(load, fleet, previous?.level ?? 'none', recoverAt);
  const stored: Stored = { level, ...load, waiting, at: await redisNow(redis) };
  await redis.set(keys.fleet.pressure, JSON.stringify(stored));
  return { level, ...load, previous: previous?.level ?? 'none' };
}

async function sumDepths(ledger: Ledger, tenants: readonly { id: string }[]): Promise<{ depth: number; waiting: number }> {
  const busy = [...(await tenantsWithTasks(ledger, tenants, 'live')).keys()];
  const depths = await pMap(busy, (tenant) => readDepth(ledger, tenant), { concurrency: CONCURRENCY });
  const running = [...(await countRunning(ledger)).values()];
  const granted = sum(depths.map((each) => each.granted));
  return { depth: sum(depths.map((each) => each.depth)), waiting: Math.max(0, granted - sum(running)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** How long tasks wait that waited already at the last reading, so that a burst on a free fleet is none. Null when nothing ended lately. */
async function estimateWait({ redis, keys, settings }: Ledger, waiting: number): Promise<number | null> {
  if (waiting === 0) return 0;
  const { completedPerMinute, failedPerMinute } = await readThroughput({ redis, keys, settings }, null);
  const perMinute = completedPerMinute + failedPerMinute;
  return perMinute === 0 ? null : Math.round((waiting / perMinute) * MINUTE_MS);
}
