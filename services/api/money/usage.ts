import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { UsageFigures } from '#shared/tasks/index.ts';
import { DEFAULT_TENANT, type TenantDirectory } from '#shared/tenants/index.ts';
import { instantSchema } from '#shared/time/index.ts';
import { readTaskUsage, readUsageGroups, TASK_GROUPS, type TaskGroup, USAGE_GROUPS, type UsageGroups } from '#shared/usage/index.ts';
import { answerCsv, formatSchema } from './csv.ts';
import { onePageSchema } from '../lists.ts';
import { usageFigures } from './usage-view.ts';

/** Of the answer without `since`, the day of `until` included. */
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

const daySchema = z.union([z.iso.date(), instantSchema], {
  error: 'expected a day like 2026-05-01, or a time in ISO 8601 with its offset',
});

const querySchema = z.strictObject({
  groupBy: z.enum(USAGE_GROUPS).default('day').meta({ description: 'What one item is about.' }),
  since: daySchema.optional().meta({ description: `The first day, in UTC: a date, or any time of it. By default ${DEFAULT_DAYS} days.` }),
  until: daySchema.optional().meta({ description: 'The last day. Today by default.' }),
  sort: z.enum(['cost', 'tokens', 'name']).optional().meta({ description: 'Days come by name by default, others by cost.' }),
  format: formatSchema,
});

const figuresSchema = {
  ...usageFigures,
  costMicroUsd: z
    .number()
    .nullable()
    .meta({ description: 'Cost in millionths of a dollar, without the uses whose cost is unknown; null when all of them are.' }),
  unknown: z.int().meta({ description: 'Uses whose cost is unknown.' }),
  estimated: z.int().meta({ description: 'Uses whose figures are estimated.' }),
  calls: z.int().meta({ description: 'Model calls that the fleet made.' }),
  attempts: z.int().meta({ description: 'Attempts that ended and used something, each under its first model.' }),
};
const totalSchema = z.strictObject(figuresSchema);

const EXAMPLE = {
  inputTokens: 120_000,
  outputTokens: 8000,
  cachedInputTokens: 90_000,
  reasoningTokens: 0,
  costMicroUsd: 25_750,
  unknown: 0,
  estimated: 0,
  calls: 0,
  attempts: 40,
};

const usageListSchema = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          group: z.string().nullable().meta({ description: 'The day, name or id; null for an unknown model, and for tasks without one.' }),
          ...figuresSchema,
        }),
      )
      .meta({ description: 'Days in order, others by their cost.' }),
    total: totalSchema.meta({ description: 'The sum of all.' }),
    isLowerBound: z.boolean().optional().meta({
      description: 'Of tasks, sessions, people, keys and schedules: whether only the newest `limits.maxPreviewed` tasks were read.',
    }),
    nextCursor: onePageSchema,
  })
  .meta({ id: 'UsageList', examples: [{ items: [{ group: '2026-05-01', ...EXAMPLE }], total: EXAMPLE, nextCursor: null }] });

/** `GET /v1/usage`: tokens and cost by day, agent, model, source, or tenant. */
export function getUsage({ ledger, tenants }: { readonly ledger: Ledger; readonly tenants: TenantDirectory }): Route {
  return route({
    method: 'get',
    path: '/v1/usage',
    operationId: 'getUsage',
    summary: 'Tokens and cost by day, agent, model, tenant, source, task, session, person, key or schedule',
    description:
      'Of the tenant of the key; with `groupBy=tenant` and a key of the tenant `default`, of all tenants. Days are of UTC and kept for `usage.retentionDays`; an attempt counts on the day of its end. By task, session, person, key and schedule it sums the tasks that are kept and ended in that time.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: usageListSchema },
    handle: async ({ query: { groupBy, since, until, sort, format } }, { tenant }) => {
      const last = until === undefined ? Date.now() : Date.parse(until);
      const first = since === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(since);
      if (first > last) throw new MusterError('request.invalid', '`since` is after `until`', { details: { field: 'since' } });
      const owners = groupBy === 'tenant' && tenant === DEFAULT_TENANT ? tenants.list().map(({ id }) => id) : [tenant];
      const span = { since: first, until: last };
      const usage = isTaskGroup(groupBy)
        ? await readTaskUsage(ledger, { tenant, groupBy, ...span })
        : await readUsageGroups(ledger, { tenants: owners, groupBy, ...span });
      const body = viewUsage(sort === undefined ? usage : { ...usage, items: usage.items.toSorted(ORDERS[sort]) });
      return format === 'csv' ? answerCsv('usage', body.items) : { status: 200, body };
    },
  });
}

const TASKS: ReadonlySet<string> = new Set(TASK_GROUPS);

function isTaskGroup(group: string): group is TaskGroup {
  return TASKS.has(group);
}

type Group = UsageGroups['items'][number];

const ORDERS = {
  cost: (one: Group, other: Group): number => other.costMicroUsd - one.costMicroUsd,
  tokens: (one: Group, other: Group): number => other.inputTokens + other.outputTokens - one.inputTokens - one.outputTokens,
  name: (one: Group, other: Group): number => (one.group ?? '').localeCompare(other.group ?? ''),
} as const;

function viewUsage({ items, total, isLowerBound }: UsageGroups): z.infer<typeof usageListSchema> {
  return {
    items: items.map(({ group, ...figures }) => ({ group, ...viewFigures(figures) })),
    total: viewFigures(total),
    ...(isLowerBound === undefined ? {} : { isLowerBound }),
    nextCursor: null,
  };
}

function viewFigures(figures: UsageFigures): z.infer<typeof totalSchema> {
  const isKnown = figures.unknown === 0 || figures.costMicroUsd > 0;
  return { ...figures, costMicroUsd: isKnown ? figures.costMicroUsd : null };
}
