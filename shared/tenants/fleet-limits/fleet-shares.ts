import { z } from 'zod';
import { type FleetLimits, SOURCE_CLASSES } from '../../config/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { countChange } from '../record-changes.ts';
import { replaceRecord } from './scripts.ts';
import { type Claim, shareOut } from './share-out.ts';

/** What a cap of the fleet bounds: a class of source, or low priority. */
const CAP_NAMES = [...SOURCE_CLASSES, 'low'] as const;
export type CapName = (typeof CAP_NAMES)[number];

/** The caps of the fleet on what runs, by what they bound. */
export function runningCaps({ runningByClass, runningLow }: FleetLimits): Partial<Record<CapName, number>> {
  return runningLow === null ? runningByClass : { ...runningByClass, low: runningLow };
}

/** A tenant's share of each cap that the fleet has. */
export interface FleetShare {
  /** Until then it holds, by Redis's clock in ms; nothing is granted under it later. */
  ends: number;
  shares: Partial<Record<CapName, number>>;
}

const tenantsSchema = z.record(z.string(), z.partialRecord(z.enum(CAP_NAMES), z.number()));
const divisionSchema = z.object({ ends: z.number(), tenants: tenantsSchema });
type Division = z.infer<typeof divisionSchema>;

/** A division of the caps among tenants, with former ones by which some process may still grant. */
const recordSchema = divisionSchema.extend({ at: z.number(), former: z.array(divisionSchema) });
export type SharesRecord = z.infer<typeof recordSchema>;

/** Reads a record; null when there is none, or when another version wrote it. */
export function parseShares(text: string | null): SharesRecord | null {
  if (text === null) return null;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The share of a tenant by a record; null while no cap bounds what runs. A tenant that is not named has none of a cap. */
export function shareOf(record: SharesRecord | null, limits: FleetLimits, tenant: string): FleetShare | null {
  const caps = runningCaps(limits);
  const names = CAP_NAMES.filter((name) => caps[name] !== undefined);
  if (names.length === 0) return null;
  const own = record && Object.hasOwn(record.tenants, tenant) ? record.tenants[tenant] : undefined;
  const shares: FleetShare['shares'] = {};
  for (const name of names) shares[name] = Math.min(own?.[name] ?? 0, caps[name] ?? 0);
  return { ends: record?.ends ?? 0, shares };
}

/** What a tenant has and wants of each cap. */
export interface TenantDemand {
  tenant: string;
  weight: number;
  granted: Partial<Record<CapName, number>>;
  waiting: Partial<Record<CapName, number>>;
}

interface DivideOptions {
  caps: Partial<Record<CapName, number>>;
  /** Redis's time, ms. */
  now: number;
  /** How long the shares hold, ms. */
  holdMs: number;
}

/** For how long the same tenants are first where a cap has fewer places than there are tenants. */
const TURN_MS = 10_000;

/** Divides the caps again after a record. Pure. */
export function divideCaps(
  before: SharesRecord | null,
  demands: readonly TenantDemand[],
  { caps, now, holdMs }: DivideOptions,
): SharesRecord {
  const former = (before === null ? [] : [before, ...before.former])
    .filter(({ ends }) => ends > now)
    .map(({ ends, tenants }) => ({ ends, tenants }));
  const all = withFormer(demands, former);
  const shares = new Map<string, FleetShare['shares']>(all.map(({ tenant }) => [tenant, {}]));
  for (const name of CAP_NAMES) {
    const claims = all.map((demand) => claimOf(demand, name, former));
    const divided = shareOut(caps[name] ?? 0, claims, Math.floor(now / TURN_MS));
    for (const [position, { tenant }] of all.entries()) {
      const own = shares.get(tenant);
      const share = divided[position] ?? 0;
      if (own && share > 0) own[name] = share;
    }
  }
  return { at: now, ends: now + holdMs, tenants: Object.fromEntries(shares), former };
}

/** Also tenants that want nothing any more, and may still be granted by a former share. */
function withFormer(demands: readonly TenantDemand[], former: readonly Division[]): TenantDemand[] {
  const listed = new Map(demands.map((demand) => [demand.tenant, demand]));
  for (const tenant of former.flatMap(({ tenants }) => Object.keys(tenants))) {
    if (!listed.has(tenant)) listed.set(tenant, { tenant, weight: 1, granted: {}, waiting: {} });
  }
  return [...listed.values()];
}

function claimOf({ tenant, weight, granted, waiting }: TenantDemand, name: CapName, former: readonly Division[]): Claim {
  const held = granted[name] ?? 0;
  const shares = former.map(({ tenants }) => (Object.hasOwn(tenants, tenant) ? (tenants[tenant]?.[name] ?? 0) : 0));
  return { demand: held + (waiting[name] ?? 0), weight, taken: Math.max(held, ...shares) };
}

/** Writes a division, unless another process wrote one since `seen` was read. Returns whether it did. */
export async function saveShares(ports: { redis: RedisClient; keys: Keys }, record: SharesRecord, seen: string | null): Promise<boolean> {
  const isSaved = await replaceRecord(ports.redis, ports.keys.fleet.shares, JSON.stringify(record), seen ?? '');
  if (isSaved) await countChange(ports);
  return isSaved;
}
