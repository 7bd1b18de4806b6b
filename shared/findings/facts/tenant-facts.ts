import { type BudgetDirectory, readSpent } from '../../budgets/index.ts';
import { listDeliveries, listEndpoints } from '../../deliveries/index.ts';
import { countHeldByGate, type Ledger, readAgentHolds, readDepth } from '../../ledger/index.ts';
import { readAgentEnds } from '../../metrics/index.ts';
import { helpsAt, type LoadReader, type Queues } from '../../queue/index.ts';
import { redisNow } from '../../redis/index.ts';
import { listSchedules, type ScheduleParts } from '../../schedules/index.ts';
import { once } from '../inspection.ts';
import { readHeld, readLongWaits } from './waits.ts';

/** What the facts of a tenant are read from. */
export interface TenantPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly budgets: BudgetDirectory;
  readonly scheduling: ScheduleParts;
  readonly loads: LoadReader;
}

export type TenantFacts = Readonly<ReturnType<typeof readers>>;

/** Of each kind: deliveries, schedules. */
export const MAX_READ = 20;
/** Schedules that are checked for paused ones: the newest, because people ask often. */
const MAX_CHECKED = 2000;

/** What is in Redis about a tenant's own things. Each is read once, when something asks for it. */
export function tenantFacts(ports: TenantPorts, tenant: string): TenantFacts {
  return readers(ports, tenant);
}

function readers(ports: TenantPorts, tenant: string) {
  const { ledger, scheduling, loads } = ports;
  const { settings } = ledger;
  const now = once(() => redisNow(ledger.redis));
  return {
    settings,
    now,
    load: once(() => loads.read(tenant)),
    /** What helps at a gate. */
    helpsAt: (gate: string): string => helpsAt(ledger, gate),
    /** What holds tasks, each with how many. */
    held: once(() => readHeld(ledger, tenant)),
    /** What keeps tasks waiting for long, by the gate where they wait. */
    longWaits: once(async () => readLongWaits(ports, await loads.read(tenant))),
    pressure: once(() => readPressure(ledger, tenant)),
    waitingForDaemons: once(() => countHeldByGate(ledger, tenant, 'daemon')),
    agentHolds: once(() => readAgentHolds(ledger, tenant)),
    /** How attempts of agents ended in the last `metrics.failingMs`. */
    agentEnds: once(() => readAgentEnds(ledger, tenant)),
    failedDeliveries: once(() => listDeliveries(ledger, tenant, { status: 'failed' }, { limit: MAX_READ })),
    endpoints: once(() => listEndpoints(ledger, tenant)),
    pausedSchedules: once(() =>
      listSchedules(scheduling, tenant, { status: 'paused' }, { limit: MAX_READ, before: null, maxChecked: MAX_CHECKED }),
    ),
    budgets: once(() => readBudgets(ports, tenant)),
  };
}

/** The level of a tenant's load as it was published to it. */
async function readPressure(ledger: Ledger, tenant: string): Promise<{ level: 'none' | 'warning' | 'critical'; depth: number }> {
  const { redis, keys } = ledger;
  const [level, { depth }] = await Promise.all([redis.hget(keys.shard(keys.shardOf(tenant)).pressure, tenant), readDepth(ledger, tenant)]);
  return { level: level === 'warning' || level === 'critical' ? level : 'none', depth };
}

async function readBudgets({ ledger, budgets }: TenantPorts, tenant: string) {
  const all = (await budgets.list(tenant)).filter(({ scope, of }) => scope === 'tenant' || of !== null);
  return await Promise.all(all.map(async (budget) => ({ budget, spending: await readSpent(ledger, tenant, budget) })));
}
