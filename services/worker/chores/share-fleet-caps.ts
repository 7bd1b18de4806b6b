import pMap from 'p-map';
import {
  divideCaps,
  type FleetLimitsDirectory,
  runningCaps,
  saveShares,
  type TenantDemand,
  type TenantDirectory,
} from '#shared/tenants/index.ts';
import { applyLimits, type Ledger, readDemand, tenantsWithTasks } from '#shared/ledger/index.ts';
import { redisNow } from '#shared/redis/index.ts';

interface SharePorts {
  ledger: Ledger;
  tenants: TenantDirectory;
  fleetLimits: FleetLimitsDirectory;
}

/** A share holds for so many divisions: a process that missed some grants nothing by it. */
const HOLD_TIMES = 3;
/** Tenants read at once. */
const CONCURRENCY = 20;

/**
 * Divides the fleet's caps on what runs among its tenants, unless another worker did lately, and grants what waits as far as the shares have
 * room. The ledger's scripts count them one by one then. Without such caps it does nothing.
 */
export async function shareFleetCaps(ports: SharePorts): Promise<void> {
  const { ledger, fleetLimits } = ports;
  const caps = runningCaps(fleetLimits.current());
  if (Object.keys(caps).length === 0) return;
  await fleetLimits.refresh();
  const { text, record } = fleetLimits.shares;
  const { shareMs } = ledger.settings.fleet;
  const now = await redisNow(ledger.redis);
  // Half of the time: workers look at the same pace, and one may come a little early.
  if (record && now - record.at < shareMs / 2) return;
  const demands = await readDemands(ports);
  const next = divideCaps(record, demands, { caps, now, holdMs: HOLD_TIMES * shareMs });
  if (!(await saveShares(ledger, next, text))) return;
  await fleetLimits.refresh();
  // Other processes learn of a raised share later, and leave tasks waiting until then.
  const waiting = demands.filter((demand) => Object.values(demand.waiting).some((count) => count > 0));
  for (const { tenant } of waiting) await applyLimits(ledger, tenant);
}

async function readDemands({ ledger, tenants }: SharePorts): Promise<TenantDemand[]> {
  const all = tenants.list().filter(({ disabled }) => !disabled);
  const busy = await tenantsWithTasks(ledger, all, 'live');
  const caps = Object.values(runningCaps(ledger.fleetLimits())).filter((cap) => cap !== undefined);
  // Quiet tenants have a share for their next task where there is room for all of them.
  const listed = all.length <= Math.min(...caps) ? all : all.filter(({ id }) => busy.has(id));
  const read = async ({ id }: { id: string }): Promise<TenantDemand> => {
    const demand = busy.has(id) ? await readDemand(ledger, id) : { granted: {}, waiting: {} };
    return { tenant: id, weight: ledger.limitsOf(id)?.weight ?? 1, ...demand };
  };
  return await pMap(listed, read, { concurrency: CONCURRENCY });
}
