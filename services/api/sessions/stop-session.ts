import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { stopSession as stop } from '#shared/sessions/index.ts';
import { sessionPathSchema } from './session-path.ts';

/** `POST /v1/sessions/:id/stop`. */
export function stopSession({ ledger }: Parts): Route {
  return route({
    method: 'post',
    path: '/v1/sessions/:id/stop',
    summary: 'Withdraw what waits in a session, then stop what runs',
    description: 'What a stopped task delegated stops with it. Messages that come afterwards are not touched.',
    scope: 'submit',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: {
      200: z.strictObject({
        withdrawn: z.int().meta({ description: 'Tasks that had not started.' }),
        stopped: z.int().meta({ description: 'Tasks that run, whose worker was told to stop.' }),
      }),
    },
    handle: async ({ params }, { tenant }) => ({ status: 200, body: await stop(ledger, tenant, params.id, 'the session was stopped') }),
  });
}
