import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { createVisitor } from '#shared/tenants/index.ts';
import { sessionPathSchema } from './session-path.ts';

/** `POST /v1/sessions/:id/visitors`. The answer is the only time that the token is shown. */
export function createSessionVisitor(parts: Parts): Route {
  const { visitorTokenMs, maxVisitorTokenMs, maxVisitors } = parts.config.settings.sessions;
  return route({
    method: 'post',
    path: '/v1/sessions/:id/visitors',
    summary: 'Make a token with which somebody may talk in this session and do nothing else',
    description:
      'It sends messages, reads the session, its stream and its transcript, chooses its mode, and stops it. It is shown this once; send it as `Authorization: Bearer <token>`. The `id` names it where it is listed and ended.',
    scope: 'submit',
    request: {
      params: sessionPathSchema,
      body: z
        .strictObject({
          name: z.string().min(1).max(200).optional().meta({ description: 'Who writes the messages that come with it.' }),
          expiresInMs: z.number().int().min(1000).max(maxVisitorTokenMs).optional(),
        })
        .optional(),
    },
    responses: { 201: z.strictObject({ id: z.string(), token: z.string(), expiresAt: z.iso.datetime() }) },
    handle: async ({ params, body = {} }, call) => {
      const wish = { tenant: call.tenant, session: params.id, name: body.name, expiresInMs: body.expiresInMs ?? visitorTokenMs };
      const { token, expiresAt, id } = await createVisitor(parts, wish, maxVisitors);
      call.log.info({ event: 'visitor.created', made: id, session: params.id, by: call.key?.id }, 'A visitor was let in');
      return { status: 201, body: { id, token, expiresAt: new Date(expiresAt).toISOString() } };
    },
  });
}
