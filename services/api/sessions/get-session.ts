import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { sessionPathSchema } from './session-path.ts';
import { sessionViewSchema } from './session-view.ts';
import { showSession } from './show-session.ts';

/** `GET /v1/sessions/:id`. */
export function getSession({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id',
    summary: 'A session: whose turn it is, what waits and why, its mode',
    description: 'A session that nobody used yet is answered like a free one.',
    scope: 'read',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: sessionViewSchema },
    handle: async ({ params }, { tenant }) => ({ status: 200, body: await showSession(ledger, tenant, params.id) }),
  });
}
