import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { type LoadReader, readScaling } from '#shared/queue/index.ts';
import { fleetRoute } from './fleet-owner.ts';

const count = z.int().min(0);

const scalingSchema = z
  .strictObject({
    group: z.string().meta({ description: 'The group, as `MUSTER_WORKER_GROUP` of its workers names it.' }),
    runnable: count.meta({
      description: 'Tasks of its queues that wait for nothing but a slot: what limits, lanes and budgets hold back does not count.',
    }),
    busy: count.meta({ description: 'Attempts that its workers run.' }),
    slots: count.meta({ description: 'Attempts that its live workers may run.' }),
    desired: count.meta({ description: 'Workers that it takes to run all of these at once; 0 for nothing to do.' }),
  })
  .meta({ id: 'Scaling', examples: [{ group: 'default', runnable: 40, busy: 28, slots: 28, desired: 3 }] });

/** `GET /v1/scaling/:group`: what an autoscaler asks for. */
export function getScaling({ ledger }: { ledger: Ledger }, loads: LoadReader): Route {
  return fleetRoute({
    method: 'get',
    path: '/v1/scaling/:group',
    operationId: 'getScaling',
    summary: 'How many workers a group should have',
    description: 'Of the last second. For the metrics-api scaler of KEDA: `valueLocation: desired`.',
    scope: 'scaling',
    errors: ['group.not-found'],
    request: {
      params: z.strictObject({
        group: z.string().max(100).meta({ description: 'The name of the group; `default` unless workers say otherwise.' }),
      }),
    },
    responses: { 200: scalingSchema },
    handle: async ({ params: { group } }) => {
      const scaling = await readScaling(ledger, group, await loads.read(null));
      if (scaling) return { status: 200, body: scaling };
      throw new MusterError('group.not-found', `No worker was ever of the group "${group}" (MUSTER_WORKER_GROUP)`, { details: { group } });
    },
  });
}
