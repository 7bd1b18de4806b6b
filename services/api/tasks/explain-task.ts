import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { type Ledger, readAttempts } from '#shared/ledger/index.ts';
import { WAIT_GATES } from '#shared/errors/index.ts';
import { explainWait, type Queues } from '#shared/queue/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findState, taskPathSchema } from './find-tasks.ts';
import { taskStatusSchema } from './task-view.ts';

const instantSchema = z.iso.datetime();

const whySchema = z
  .strictObject({
    status: taskStatusSchema,
    reasons: z
      .array(
        z.strictObject({
          gate: z.enum(WAIT_GATES).meta({ description: 'What it waits at.' }),
          detail: z.string().meta({ description: 'For people.' }),
          since: instantSchema.nullable().meta({ description: 'Since when; null when unknown.' }),
          until: instantSchema.nullable().meta({ description: 'Until when, if that is known.' }),
          taskId: z.string().nullable().meta({ description: 'The task that it waits for.' }),
        }),
      )
      .meta({ description: 'What it waits for now; none when it does not wait.' }),
    gates: z
      .array(
        z.strictObject({
          gate: z.enum(WAIT_GATES).meta({ description: 'The gate.' }),
          state: z.enum(['open', 'closed']).meta({ description: '`closed` while the task waits at it.' }),
          detail: z.string().meta({ description: 'For people.' }),
          facts: z
            .record(z.string(), z.union([z.number(), z.string(), z.null()]))
            .meta({ description: 'Its figures by name; which ones depends on the gate.' }),
          helps: z.string().nullable().meta({ description: 'What would help, for people; null at an open gate.' }),
          since: instantSchema.nullable().meta({ description: 'Since when it is closed; null when unknown.' }),
          until: instantSchema.nullable().meta({ description: 'Until when, if that is known.' }),
          taskId: z.string().nullable().meta({ description: 'The task that has to go first.' }),
        }),
      )
      .meta({ description: 'Every gate on the path to its start, in order; none when it does not wait.' }),
    estimatedStartMs: z.number().nullable().meta({ description: 'In about how many milliseconds it starts; null when unknown.' }),
    interruptions: z.int().meta({
      description:
        'How often in a row workers that shut down interrupted it, and it started over. It is held at `interruptions` after `worker.maxInterruptions`.',
    }),
  })
  .meta({
    id: 'Why',
    examples: [
      {
        status: 'pending',
        reasons: [
          { gate: 'lane', detail: 'another task of its session runs', since: '2026-05-01T09:00:00.000Z', until: null, taskId: null },
        ],
        gates: [
          {
            gate: 'lane',
            state: 'closed',
            detail: 'another task of its session runs',
            facts: { place: 2 },
            helps: 'It starts when the task before it has ended.',
            since: '2026-05-01T09:00:00.000Z',
            until: null,
            taskId: null,
          },
        ],
        estimatedStartMs: null,
        interruptions: 0,
      },
    ],
  });

/** `GET /v1/tasks/:id/why`. */
export function getTaskWhy(ports: { readonly ledger: Ledger; readonly queues: Queues }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/why',
    operationId: 'explainTask',
    summary: 'Why a task does not run yet',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: whySchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const state = await findState(ports.ledger, tenant, id);
      const attempts = (await readAttempts(ports.ledger, tenant, id)) ?? [];
      const { reasons, gates, ...rest } = await explainWait(ports, { body: { id, tenant }, state, attempts });
      return { status: 200, body: { ...rest, reasons: reasons.map(dated), gates: gates.map(dated) } };
    },
  });
}

/** With its times as text. */
function dated<Times extends { since: number | null; until: number | null }>(
  timed: Times,
): Omit<Times, 'since' | 'until'> & { since: string | null; until: string | null } {
  return { ...timed, since: toIso(timed.since), until: toIso(timed.until) };
}
