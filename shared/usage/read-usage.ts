import type { Settings } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { TASK_GROUPS } from './task-groups.ts';
import { noFigures, parseUsageRow, USAGE_FIGURES, usageDay, type UsageFigures } from '../tasks/index.ts';
import { publicTenantId } from '../tenants/index.ts';

/** What the rows of days may be grouped by. */
const ROW_GROUPS = ['day', 'agent', 'model', 'tenant', 'source'] as const;
/** What usage may be grouped by: rows of days, and tasks that are kept. */
export const USAGE_GROUPS = [...ROW_GROUPS, ...TASK_GROUPS] as const;

/** What was used by one day, agent, model, tenant or source, or by what `TASK_GROUPS` has. */
export interface UsageGroup extends UsageFigures {
  /** A day (`2026-05-01`, UTC), or a name; `other` for what came when a day had its last row, null for an unknown model. */
  group: string | null;
}

/** Usage in groups: days in order, others by what they cost. */
export interface UsageGroups {
  items: UsageGroup[];
  total: UsageFigures;
  /** Whether older tasks were left out. */
  isLowerBound?: boolean;
}

interface UsagePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

interface UsageQuery {
  tenants: readonly string[];
  groupBy: (typeof ROW_GROUPS)[number];
  /** The first day and the last one: ms since the epoch, any time of them. */
  since: number;
  until: number;
}

/** Hashes read at a time. */
const TOGETHER = 100;
const DAY_MS = 86_400_000;

/** Sums what tenants used on these days. Errors: `request.invalid` for more than `usage.maxRead` days of tenants. */
export async function readUsageGroups(ports: UsagePorts, { tenants, groupBy, since, until }: UsageQuery): Promise<UsageGroups> {
  const days = daysOf(since, until);
  const { maxRead } = ports.settings.usage;
  if (days.length * tenants.length > maxRead) {
    const message = `These are ${days.length} days of ${tenants.length} tenants, more than ${maxRead} together`;
    throw new MusterError('request.invalid', message, { details: { field: 'since' } });
  }
  const groups = new Map<string | null, UsageGroup>();
  const total = noFigures();
  const wanted = tenants.flatMap((tenant) => days.map((day) => ({ tenant, day })));
  for (let from = 0; from < wanted.length; from += TOGETHER) {
    const part = wanted.slice(from, from + TOGETHER);
    const stored = await Promise.all(part.map(({ tenant, day }) => ports.redis.hgetall(ports.keys.tenant(tenant).usageDay(day))));
    for (const [at, { tenant, day }] of part.entries()) addDay({ groups, total, groupBy }, { tenant, day }, stored[at] ?? {});
  }
  return { items: inOrder([...groups.values()], groupBy), total };
}

function daysOf(since: number, until: number): number[] {
  const first = usageDay(since);
  return Array.from({ length: Math.max(0, usageDay(until) - first + 1) }, (_, at) => first + at);
}

interface Sums {
  groups: Map<string | null, UsageGroup>;
  total: UsageFigures;
  groupBy: UsageQuery['groupBy'];
}

function addDay({ groups, total, groupBy }: Sums, of: { tenant: string; day: number }, stored: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(stored)) {
    const row = parseUsageRow(name, text);
    if (row === null) continue;
    const group = groupOf(groupBy, of, row);
    const sum = groups.get(group) ?? { group, ...noFigures() };
    groups.set(group, sum);
    for (const figure of USAGE_FIGURES) {
      sum[figure] += row.figures[figure];
      total[figure] += row.figures[figure];
    }
  }
}

const OTHER = 'other';

function groupOf(
  groupBy: UsageQuery['groupBy'],
  { tenant, day }: { tenant: string; day: number },
  { name, isOther }: NonNullable<ReturnType<typeof parseUsageRow>>,
): string | null {
  switch (groupBy) {
    case 'day':
      return new Date(day * DAY_MS).toISOString().slice(0, 10);
    case 'tenant':
      return publicTenantId(tenant);
    case 'source':
      return name.source;
    case 'agent':
      return isOther ? OTHER : name.agent;
    case 'model':
      return isOther ? OTHER : name.model || null;
  }
}

export function inOrder(groups: UsageGroup[], groupBy: (typeof USAGE_GROUPS)[number]): UsageGroup[] {
  if (groupBy === 'day') return groups.toSorted((one, other) => (`${one.group}` < `${other.group}` ? -1 : 1));
  return groups.toSorted((one, other) => other.costMicroUsd - one.costMicroUsd || tokensOf(other) - tokensOf(one));
}

function tokensOf({ inputTokens, outputTokens }: UsageFigures): number {
  return inputTokens + outputTokens;
}
