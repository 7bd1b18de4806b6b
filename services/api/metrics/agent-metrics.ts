import { z } from 'zod';
import { countSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { type AgentFigures, readAgentFigures } from '#shared/metrics/index.ts';
import { onePageOf } from '../lists.ts';

const MAX_HOURS = 168;
const DEFAULT_HOURS = 24;
const HOUR_MS = 3_600_000;

const count = z.int().min(0);

const figuresSchema = z
  .strictObject({
    agent: z.string().meta({ description: 'The agent.' }),
    attempts: count.meta({ description: 'Attempts that ended.' }),
    completed: count.meta({ description: 'Tasks that completed.' }),
    failed: count.meta({ description: 'Tasks whose last attempt failed for good.' }),
    retried: count.meta({ description: 'Failed attempts that another one follows.' }),
    failureRate: z.number().min(0).max(1).nullable().meta({ description: '`failed` of these and `completed`; null where there was none.' }),
    runP50Ms: count.nullable().meta({ description: 'The time that half of the attempts did not exceed; null where none ran.' }),
    runP95Ms: count.nullable().meta({ description: 'The time that 95 of 100 attempts did not exceed; null where none ran.' }),
    costMicroUsd: count.meta({ description: 'What these attempts cost, in millionths of a US dollar.' }),
    lastAt: z.iso.datetime().meta({ description: 'When the last of them ended, within seconds.' }),
  })
  .meta({
    id: 'AgentMetrics',
    examples: [
      {
        agent: 'research',
        attempts: 212,
        completed: 190,
        failed: 10,
        retried: 12,
        failureRate: 0.05,
        runP50Ms: 2400,
        runP95Ms: 8100,
        costMicroUsd: 480_000,
        lastAt: '2026-05-01T09:00:00.000Z',
      },
    ],
  });

const listSchema = onePageOf(figuresSchema, 'By name; agents without an attempt in the window are left out.')
  .extend({
    hours: z.int().min(1).meta({ description: 'How long the window is: what was asked for, or what is kept.' }),
    since: z.iso.datetime().meta({ description: 'When the window begins: at a full hour.' }),
  })
  .meta({ id: 'AgentMetricsList' });

/** `GET /v1/metrics/agents`: what each agent of the tenant did in a window of hours. */
export function getAgentMetrics({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/metrics/agents',
    operationId: 'listAgentMetrics',
    summary: 'How the agents were doing: failures, durations, cost',
    description:
      'Of all attempts in the window, the hour that runs included. Hours are kept for `metrics.agentsMs`, of other tenants than `default` for `metrics.tenantAgentsMs`, for up to `metrics.maxAgents` agents each.',
    scope: 'read',
    request: {
      query: z.strictObject({
        hours: countSchema(1, MAX_HOURS).default(DEFAULT_HOURS).meta({ description: 'How many, up to now.' }),
      }),
    },
    responses: { 200: listSchema },
    handle: async ({ query: { hours } }, { tenant }) => {
      const { items, since, until } = await readAgentFigures(ledger, tenant, hours);
      const window = { hours: Math.round((until - since) / HOUR_MS), since: new Date(since).toISOString() };
      return { status: 200, body: { items: items.map((each) => viewFigures(each)), ...window, nextCursor: null } };
    },
  });
}

function viewFigures({ agent, attempts, completed, failed, retried, cost, ran, lastAt }: AgentFigures): z.infer<typeof figuresSchema> {
  const ended = completed + failed;
  return {
    agent,
    attempts,
    completed,
    failed,
    retried,
    failureRate: ended === 0 ? null : Math.round((failed / ended) * 10_000) / 10_000,
    runP50Ms: ran?.p50Ms ?? null,
    runP95Ms: ran?.p95Ms ?? null,
    costMicroUsd: cost,
    lastAt: new Date(lastAt).toISOString(),
  };
}
