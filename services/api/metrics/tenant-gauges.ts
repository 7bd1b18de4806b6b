import pMap from 'p-map';
import type { BudgetDirectory } from '#shared/budgets/index.ts';
import { readSpent } from '#shared/budgets/index.ts';
import type { Settings } from '#shared/config/index.ts';
import { tenantsWithTasks } from '#shared/ledger/index.ts';
import type { LoadPorts } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { publicTenantId } from '#shared/tenants/index.ts';
import { readUsageGroups } from '#shared/usage/index.ts';
import { type GaugeOptions, memoize, type Values } from './gauge.ts';

export interface TenantGaugePorts extends LoadPorts {
  readonly budgets: BudgetDirectory;
}

/** Tenants that have values of their own: those with the greatest. The others have one together. */
const MAX_TENANTS = 100;
/** What stands for the others, and for models that the configuration does not name. */
const OTHER = 'other';
/** Tenants are many, and what they cost changes slowly. */
const FRESH_MS = 15_000;
const CONCURRENCY = 10;

/** The gauges of tenants: their open tasks, what they cost today, how far their budgets are used. */
export function tenantGauges(ports: TenantGaugePorts): GaugeOptions[] {
  const costs = memoize(() => readCosts(ports, 'tenant'), FRESH_MS);
  const models = memoize(() => readCosts(ports, 'model'), FRESH_MS);
  const budgets = memoize(async () => await readBudgets(ports, await costs()), FRESH_MS);
  return [
    {
      name: 'muster_tenant_tasks_open',
      help: 'Tasks of a tenant that have not ended',
      read: memoize(async () => {
        const open = await tenantsWithTasks(ports.ledger, ports.tenants.list(), 'live');
        return asValues('tenant', greatest([...open].map(([tenant, count]) => [publicTenantId(tenant), count])));
      }, FRESH_MS),
    },
    {
      name: 'muster_tenant_cost_usd_today',
      help: 'What a tenant cost on this day of UTC, US dollars',
      read: async () => asValues('tenant', greatest(await costs())),
    },
    {
      name: 'muster_model_cost_usd_today',
      help: 'What a model cost on this day of UTC, US dollars',
      read: async () => asValues('model', sumOf((await models()).map(([model, cost]) => [modelLabel(ports.ledger.settings, model), cost]))),
    },
    { name: 'muster_budget_used_ratio', help: 'What is spent of a line of a budget, 1 at the line', read: budgets },
  ];
}

type Costs = [name: string, value: number][];

const MICRO_PER_USD = 1_000_000;

/** What was used on this day, of as many tenants as one reading may take. */
async function readCosts({ ledger, tenants }: TenantGaugePorts, groupBy: 'tenant' | 'model'): Promise<Costs> {
  const now = await redisNow(ledger.redis);
  const ids = tenants.list().map(({ id }) => id);
  const { items } = await readUsageGroups(ledger, {
    tenants: ids.slice(0, ledger.settings.usage.maxRead),
    groupBy,
    since: now,
    until: now,
  });
  return items.map(({ group, costMicroUsd }) => [group ?? OTHER, costMicroUsd / MICRO_PER_USD]);
}

/** Of tenants that cost anything today; a budget whose names count each by itself has no value. */
async function readBudgets({ ledger, budgets, tenants }: TenantGaugePorts, costs: Costs): Promise<Values> {
  const spending = new Set(costs.slice(0, MAX_TENANTS).flatMap(([tenant, cost]) => (cost > 0 ? [tenant] : [])));
  const ids = tenants.list().flatMap(({ id }) => (spending.has(publicTenantId(id)) ? [id] : []));
  const values = await pMap(
    ids,
    async (tenant) => {
      const own = (await budgets.of(tenant)).filter(({ scope, of }) => scope === 'tenant' || of !== null);
      return await Promise.all(
        own.map(async (budget): Promise<Values> => {
          const { spentMicroUsd } = await readSpent(ledger, tenant, budget);
          const lines = [['soft', budget.softMicroUsd] as const, ['hard', budget.hardMicroUsd] as const];
          return lines.flatMap(([line, microUsd]): Values => {
            if (microUsd === null || microUsd === 0) return [];
            return [[{ tenant: publicTenantId(tenant), budget: budget.id, line }, spentMicroUsd / microUsd]];
          });
        }),
      );
    },
    { concurrency: CONCURRENCY },
  );
  return values.flat(2);
}

/** Names that people chose are shown where the configuration has them. */
function modelLabel({ models, agents }: Pick<Settings, 'models' | 'agents'>, model: string): string {
  const isNamed = Object.hasOwn(models, model) || Object.values(agents).some((agent) => agent.kind === 'openai' && agent.model === model);
  return isNamed ? model : OTHER;
}

/** The greatest, and the sum of the others. */
function greatest(all: Costs): Costs {
  const sorted = all.toSorted(([, one], [, other]) => other - one);
  return sumOf(sorted.map(([name, value], at) => [at < MAX_TENANTS ? name : OTHER, value]));
}

function sumOf(all: Costs): Costs {
  const sums = new Map<string, number>();
  for (const [name, value] of all) sums.set(name, (sums.get(name) ?? 0) + value);
  return [...sums];
}

function asValues(label: string, all: Costs): Values {
  return all.map(([name, value]) => [{ [label]: name }, value]);
}
