import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { offerInput } from '#shared/queue/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { taskNotFound, taskPathSchema } from './find-task.ts';
import { idempotencyHeadersSchema, idempotencyOf } from './idempotency-key.ts';
import { keptStatusSchema, outcomeSchema } from './task-view.ts';

const answerSchema = z.strictObject({
  id: z.string().meta({ description: "The message's own task." }),
  status: keptStatusSchema,
  outcome: outcomeSchema.nullable().meta({ description: 'Null until the running task takes it, or it runs itself.' }),
  position: z.int().meta({ description: 'How many tasks are before it in its line.' }),
});

/** `POST /v1/tasks/:id/input`: a message for a running task; 202, or 200 for a key that came before. */
export function postInput(parts: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/input',
    summary: 'Say something to a running task',
    description:
      'The message is a task of its own. It ends as part of the running one when that takes it, else it is the next turn. Send `Idempotency-Key` to be able to send again.',
    scope: 'submit',
    request: {
      params: taskPathSchema,
      headers: idempotencyHeadersSchema,
      body: z.strictObject({
        text: z.string().min(1),
        user: z.string().min(1).max(200).optional().meta({ description: 'Who wrote it; by default the one whom the running task is for.' }),
      }),
    },
    responses: { 200: answerSchema, 202: answerSchema },
    handle: async ({ params: { id }, headers, body }, { tenant, traceparent }) => {
      if (!TASK_ID.test(id)) throw taskNotFound(id);
      const offered = await offerInput(parts, {
        tenant,
        task: id,
        input: body.text,
        traceparent,
        ...(body.user === undefined ? {} : { user: body.user }),
        ...idempotencyOf(headers['idempotency-key']),
      });
      const { status, outcome, position } = offered;
      const answer = { id: offered.id, status, outcome, position };
      return { status: offered.isDuplicate ? 200 : 202, body: answer, headers: { Location: `/v1/tasks/${offered.id}` } };
    },
  });
}
