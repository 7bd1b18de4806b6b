import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { readAttempts } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { explainWait, WAIT_GATES } from '#shared/queue/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findState, taskPathSchema } from './find-task.ts';
import { taskStatusSchema } from './task-view.ts';

const whySchema = z
  .strictObject({
    status: taskStatusSchema,
    reasons: z.array(
      z.strictObject({
        gate: z.enum(WAIT_GATES),
        detail: z.string(),
        since: z.iso.datetime().nullable(),
        until: z.iso.datetime().nullable(),
        taskId: z.string().nullable(),
      }),
    ),
    estimatedStartMs: z.number().nullable(),
  })
  .meta({ id: 'Why' });

/** `GET /v1/tasks/:id/why`. */
export function getWhy(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/why',
    summary: 'Why a task does not run yet',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: whySchema },
    handle: async ({ params }, { tenant }) => {
      const { id } = params;
      const state = await findState(parts.ledger, tenant, id);
      const attempts = (await readAttempts(parts.ledger, tenant, id)) ?? [];
      const { reasons, ...rest } = await explainWait(parts, { body: { id, tenant }, state, attempts });
      const dated = reasons.map(({ gate, detail, since, until, taskId }) => ({
        gate,
        detail,
        since: toIso(since),
        until: toIso(until),
        taskId,
      }));
      return { status: 200, body: { ...rest, reasons: dated } };
    },
  });
}
