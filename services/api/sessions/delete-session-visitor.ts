import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { revokeVisitor } from '#shared/tenants/index.ts';
import { sessionPathSchema } from './session-path.ts';

/** `DELETE /v1/sessions/:id/visitors/:visitorId`: its token opens nothing from then on. */
export function deleteSessionVisitor(parts: Parts): Route {
  return route({
    method: 'delete',
    path: '/v1/sessions/:id/visitors/:visitorId',
    summary: "End a visitor's token before it expires",
    description: 'Calls with it are refused at once, and its streams end within `http.streamCheckMs`. What it sent stays.',
    scope: 'submit',
    request: { params: sessionPathSchema.extend({ visitorId: z.string() }) },
    responses: { 204: z.null() },
    handle: async ({ params: { id: session, visitorId } }, call) => {
      const ended = visitorId.slice(0, 100);
      if (!(await revokeVisitor(parts, { tenant: call.tenant, session }, visitorId)))
        throw new MusterError('visitor.not-found', 'This session has no such visitor', { details: { visitor: ended } });
      call.log.info({ event: 'visitor.ended', ended, session, by: call.key?.id }, "A visitor's token was ended");
      return { status: 204 };
    },
  });
}
