import { z } from 'zod';
import {
  type Budget,
  type BudgetDirectory,
  countPast,
  previewBudget,
  readSpending,
  releaseByBudgets,
  releaseEndedReservations,
} from '#shared/budgets/index.ts';
import type { AgentCatalog } from '#shared/agents/index.ts';
import { budgetFields, budgetSchema, type Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { onlyNewHeadersSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { callCostOf, warnOfBudget } from '#shared/models/index.ts';
import { systemClock, toIso } from '#shared/time/index.ts';
import { answerList, onePageOf } from '../lists.ts';

export interface BudgetPorts {
  readonly budgets: BudgetDirectory;
  readonly catalog: AgentCatalog;
  readonly settings: Settings;
  readonly ledger: Ledger;
}

/** `/v1/budgets`: what a tenant may spend. */
export function budgetRoutes(ports: BudgetPorts): Route[] {
  return [getBudgets(ports), postBudgetPreview(ports), getBudget(ports), putBudget(ports), deleteBudget(ports)];
}

/** Tasks that one change of a budget releases at once; others follow within a minute each. */
const MAX_RELEASED = 10_000;

const idSchema = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'expected letters, digits, ".", "_" or "-", at most 64')
  .meta({ description: "The budget's id." });
const pathSchema = z.object({ id: idSchema });

const warningsSchema = z
  .array(z.string())
  .meta({ description: 'Agents of which not one call fits into it, or none with all that it may answer: a sentence for each.' });

const viewSchema = z
  .strictObject({
    id: idSchema,
    origin: z.enum(['config', 'api']).meta({ description: '`config`: of the installation; `api`: made by the tenant.' }),
    ...budgetFields,
    spentMicroUsd: z.int().nullable().meta({ description: 'Spent in the current window; null where each name has its own count.' }),
    reservedMicroUsd: z.int().nullable().meta({ description: 'Reserved there by calls under way.' }),
    windowEndsAt: z.iso.datetime().nullable().meta({ description: 'When the current window ends; null for never.' }),
    held: z.int().nullable().meta({ description: 'Tasks that it holds.' }),
    warnings: warningsSchema,
  })
  .meta({
    id: 'Budget',
    examples: [
      {
        id: 'all',
        origin: 'api',
        scope: 'tenant',
        of: null,
        per: 'month',
        tz: 'Europe/Berlin',
        softMicroUsd: 80_000_000,
        hardMicroUsd: 100_000_000,
        atHard: 'pause',
        downgradeTo: null,
        spentMicroUsd: 12_345_678,
        reservedMicroUsd: 20_000,
        windowEndsAt: '2026-05-31T22:00:00.000Z',
        held: 0,
        warnings: [],
      },
    ],
  });

async function viewBudget({ ledger, catalog, settings }: BudgetPorts, tenant: string, budget: Budget): Promise<z.infer<typeof viewSchema>> {
  const [{ window, ...spending }, agents] = await Promise.all([readSpending(ledger, tenant, budget), catalog.list(tenant)]);
  const windowEndsAt = toIso(window.endsAt);
  const isOne = budget.scope === 'tenant' || budget.of !== null;
  return {
    ...budget,
    ...(isOne ? spending : { spentMicroUsd: null, reservedMicroUsd: null, held: null }),
    windowEndsAt,
    warnings: warnOfBudget(settings, budget, agents.items),
  };
}

const listSchema = onePageOf(viewSchema, 'By id.').meta({ id: 'BudgetList' });

/** `GET /v1/budgets`. */
function getBudgets(ports: BudgetPorts): Route {
  return route({
    method: 'get',
    path: '/v1/budgets',
    operationId: 'listBudgets',
    summary: 'What may be spent, and what was',
    scope: 'read',
    responses: { 200: listSchema },
    handle: async (_input, { tenant }) => {
      const budgets = await ports.budgets.list(tenant);
      await releaseEndedReservations(ports.ledger, tenant);
      const items = await Promise.all(budgets.map((budget) => viewBudget(ports, tenant, budget)));
      return answerList(items);
    },
  });
}

/** `GET /v1/budgets/:id`. */
function getBudget(ports: BudgetPorts): Route {
  return route({
    method: 'get',
    path: '/v1/budgets/:id',
    operationId: 'getBudget',
    summary: 'Read a budget',
    scope: 'read',
    errors: ['budget.not-found'],
    request: { params: pathSchema },
    responses: { 200: viewSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const budget = (await ports.budgets.list(tenant)).find((each) => each.id === id);
      if (!budget) throw budgetNotFound(id);
      await releaseEndedReservations(ports.ledger, tenant);
      return { status: 200, body: await viewBudget(ports, tenant, budget) };
    },
  });
}

const requestSchema = budgetSchema.meta({
  id: 'BudgetRule',
  examples: [{ scope: 'agent', of: 'writer', per: 'day', hardMicroUsd: 5_000_000, atHard: 'pause' }],
});

/** `PUT /v1/budgets/:id`: makes or replaces a budget. What its window has cost already counts; tasks for which it has room now go on. */
function putBudget(ports: BudgetPorts): Route {
  return route({
    method: 'put',
    path: '/v1/budgets/:id',
    operationId: 'putBudget',
    summary: 'Make or replace a budget',
    description:
      'Holds everywhere within two seconds. What its running window has cost already counts, also before the budget was made; tasks that it held go on when it has room now. `If-None-Match: *` replaces none.',
    scope: 'admin',
    errors: ['budget.exists', 'budget.operator-only', 'limit.storage'],
    request: { params: pathSchema, headers: onlyNewHeadersSchema, body: requestSchema },
    responses: { 200: viewSchema.meta({ description: 'Replaced.' }), 201: viewSchema.meta({ description: 'Made.' }) },
    problems: { 412: '`budget.exists`: with `If-None-Match: *` there is a budget of this name already.' },
    handle: async ({ params: { id }, body, headers }, call) => {
      const isNew = await ports.budgets.put(call.tenant, id, body, { onlyNew: headers['if-none-match'] === '*' });
      call.log.info({ event: 'budget.changed', budget: id, rule: body, by: call.key?.id }, 'a budget was changed');
      await countPast(ports.ledger, call.tenant, { ...body, id, origin: 'api' });
      await releaseByBudgets(ports.ledger, ports.budgets, call.tenant, MAX_RELEASED);
      return { status: isNew ? 201 : 200, body: await viewBudget(ports, call.tenant, { ...body, id, origin: 'api' }) };
    },
  });
}

/** `DELETE /v1/budgets/:id`. Tasks that it held go on. */
function deleteBudget(ports: BudgetPorts): Route {
  return route({
    method: 'delete',
    path: '/v1/budgets/:id',
    operationId: 'deleteBudget',
    summary: 'Remove a budget',
    description: 'Tasks that it held go on.',
    scope: 'admin',
    errors: ['budget.not-found', 'budget.operator-only'],
    request: { params: pathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, call) => {
      if (!(await ports.budgets.remove(call.tenant, id))) throw budgetNotFound(id);
      call.log.info({ event: 'budget.removed', budget: id, by: call.key?.id }, 'a budget was removed');
      await releaseByBudgets(ports.ledger, ports.budgets, call.tenant, MAX_RELEASED);
      return { status: 204 };
    },
  });
}

const previewSchema = z
  .strictObject({
    tasks: z.int().meta({ description: 'Tasks that ran and whose cost is known, as far as they were read.' }),
    spentMicroUsd: z.int().meta({ description: 'What they cost in all.' }),
    refused: z.int().meta({ description: 'Tasks that would not have had their first call, because too little of a window was left.' }),
    savedMicroUsd: z.int().meta({ description: 'What these cost.' }),
    warnings: z.int().meta({ description: 'Windows whose soft line would have been crossed.' }),
    since: z.iso.datetime().nullable().meta({ description: 'The tasks were accepted from then on.' }),
    agentWarnings: warningsSchema,
  })
  .meta({
    id: 'BudgetPreview',
    examples: [
      {
        tasks: 812,
        spentMicroUsd: 9_400_000,
        refused: 41,
        savedMicroUsd: 620_000,
        warnings: 2,
        since: '2026-05-01T09:00:00.000Z',
        agentWarnings: [],
      },
    ],
  });

/** `POST /v1/budgets/preview`: what a budget would have done to the tasks of the last seven days. Changes nothing. */
function postBudgetPreview({ ledger, catalog, settings }: BudgetPorts): Route {
  return route({
    method: 'post',
    path: '/v1/budgets/preview',
    isCostly: true,
    operationId: 'previewBudget',
    summary: 'What a budget would have done to the tasks of the last seven days',
    description: 'Changes nothing. Reads the newest tasks, at most `limits.maxPreviewed`.',
    scope: 'read',
    audit: 'never',
    request: { body: requestSchema },
    responses: { 200: previewSchema },
    handle: async ({ body }, { tenant }) => {
      const { items } = await catalog.list(tenant);
      const needed = new Map(items.map(({ id, definition }) => [id, callCostOf(settings, definition)?.least ?? 0]));
      const neededBy = (agent: string): number => needed.get(agent) ?? 0;
      const preview = await previewBudget(ledger, { tenant, rule: body, now: systemClock.now(), neededBy });
      return { status: 200, body: { ...preview, since: toIso(preview.since), agentWarnings: warnOfBudget(settings, body, items) } };
    },
  });
}

/** `budget.not-found`, 404. */
function budgetNotFound(id: string): MusterError {
  return new MusterError('budget.not-found', 'There is no such budget', { details: { budget: id } });
}
