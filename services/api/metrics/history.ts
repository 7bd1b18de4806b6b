import { z } from 'zod';
import { TASK_QUEUES } from '#shared/config/index.ts';
import { countSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { type MinuteFigures, readHistory } from '#shared/metrics/index.ts';
import { assertFleetOwner } from '../fleet/fleet-owner.ts';
import { answerList, onePageOf } from '../lists.ts';

const SCOPES = ['tenant', 'fleet'] as const;
const MAX_MINUTES = 1440;
const DEFAULT_MINUTES = 60;

const count = z.int().min(0);
const duration = (description: string) => count.nullable().meta({ description: `${description}; null where there was none.` });
const gauge = (description: string) => count.nullable().meta({ description: `${description}; null where nothing measured it.` });

const minuteSchema = z
  .strictObject({
    at: z.iso.datetime().meta({ description: 'When the minute began.' }),
    accepted: count.meta({ description: 'Tasks accepted.' }),
    completed: count.meta({ description: 'Tasks completed.' }),
    failed: count.meta({ description: 'Tasks that failed for good.' }),
    retried: count.meta({ description: 'Failed attempts that another one follows.' }),
    waitP50Ms: duration('The wait before the first attempt that half of the tasks did not exceed'),
    waitP95Ms: duration('The wait that 95 of 100 tasks did not exceed'),
    runP50Ms: duration('The time that half of the attempts did not exceed'),
    runP95Ms: duration('The time that 95 of 100 attempts did not exceed'),
    costMicroUsd: count.meta({ description: 'What the attempts that ended cost, in millionths of a US dollar.' }),
    running: gauge('Tasks that ran, at most'),
    waiting: gauge('Tasks that waited, at most'),
    slots: gauge('Slots of the workers, at most; of the fleet only'),
    queues: z
      .array(
        z.strictObject({
          name: z.enum(TASK_QUEUES).meta({ description: 'The queue.' }),
          waiting: count.meta({ description: 'Tickets that waited, at most.' }),
          oldestMs: duration('How long the first of them had waited, at most'),
        }),
      )
      .meta({ description: 'Of the fleet only.' }),
  })
  .meta({
    id: 'MinuteMetrics',
    examples: [
      {
        at: '2026-05-01T09:00:00.000Z',
        accepted: 61,
        completed: 58,
        failed: 1,
        retried: 2,
        waitP50Ms: 18,
        waitP95Ms: 210,
        runP50Ms: 2400,
        runP95Ms: 8100,
        costMicroUsd: 48_000,
        running: 6,
        waiting: 14,
        slots: 28,
        queues: [{ name: 'tasks', waiting: 14, oldestMs: 900 }],
      },
    ],
  });

/** `GET /v1/metrics/history`: what the tenant or the fleet did, minute by minute. */
export function getMetricsHistory({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/metrics/history',
    operationId: 'getMetricsHistory',
    summary: 'How the queues were doing, minute by minute',
    description:
      'Figures of the tenant; with `scope=fleet` those of the fleet, for keys of the tenant `default`. Minutes are kept for `metrics.historyMs`, of other tenants for `metrics.tenantHistoryMs`; earlier ones are 0 and null.',
    scope: 'read',
    request: {
      query: z.strictObject({
        scope: z.enum(SCOPES).default('tenant').meta({ description: 'Whose figures: of the tenant of the key, or of the fleet.' }),
        minutes: countSchema(1, MAX_MINUTES).default(DEFAULT_MINUTES).meta({ description: 'How many, up to now.' }),
      }),
    },
    responses: { 200: onePageOf(minuteSchema, 'Oldest first; the last one is the minute that runs.').meta({ id: 'MetricsHistory' }) },
    handle: async ({ query: { scope, minutes } }, call) => {
      if (scope === 'fleet') assertFleetOwner(call);
      const figures = await readHistory(ledger, scope === 'fleet' ? null : call.tenant, minutes);
      return answerList(figures.map(viewMinute));
    },
  });
}

function viewMinute({ at, waited, ran, ...figures }: MinuteFigures): z.infer<typeof minuteSchema> {
  const durations = {
    waitP50Ms: waited?.p50Ms ?? null,
    waitP95Ms: waited?.p95Ms ?? null,
    runP50Ms: ran?.p50Ms ?? null,
    runP95Ms: ran?.p95Ms ?? null,
  };
  return { at: new Date(at).toISOString(), ...figures, ...durations };
}
