import { z } from 'zod';
import { lineSchema, type Settings } from '#shared/config/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { createVisitor, listVisitors, type VisitorKey, revokeVisitor } from '#shared/tenants/index.ts';
import { answerList, onePageOf } from '../lists.ts';
import { sessionPathSchema } from './sessions.ts';
import { MusterError } from '#shared/errors/index.ts';

interface VisitorPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** `POST /v1/sessions/:id/visitors`. The answer is the only time that the token is shown. */
export function postVisitor(parts: VisitorPorts): Route {
  const { visitorTokenMs, maxVisitorTokenMs, maxVisitors } = parts.config.settings.sessions;
  return route({
    method: 'post',
    path: '/v1/sessions/:id/visitors',
    operationId: 'createVisitor',
    summary: 'Make a token for one person in this session',
    description:
      'The token allows sending messages, reading the session with its stream and transcript, setting its mode and stopping it. It is shown only once; send it as `Authorization: Bearer <token>`. `id` names the visitor in the list and in `DELETE`.',
    scope: 'submit',
    errors: ['limit.visitors'],
    request: {
      params: sessionPathSchema,
      body: z
        .strictObject({
          name: lineSchema.min(1).max(200).optional().meta({ description: 'Who writes the messages that come with it.' }),
          expiresInMs: z.number().int().min(1000).max(maxVisitorTokenMs).optional(),
        })
        .optional(),
    },
    responses: { 201: z.strictObject({ id: z.string(), token: z.string(), expiresAt: z.iso.datetime() }).meta({ id: 'NewVisitor' }) },
    handle: async ({ params, body = {} }, call) => {
      const wish = { tenant: call.tenant, session: params.id, name: body.name, expiresInMs: body.expiresInMs ?? visitorTokenMs };
      const { token, expiresAt, id } = await createVisitor(parts, wish, maxVisitors);
      call.log.info({ event: 'visitor.created', made: id, session: params.id, by: call.key?.id }, 'A visitor was created');
      return { status: 201, body: { id, token, expiresAt: new Date(expiresAt).toISOString() } };
    },
  });
}

const visitorViewSchema = z
  .strictObject({
    id: z.string(),
    name: z.string().meta({ description: 'Who writes the messages that come with it.' }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'Visitor' });

/** `GET /v1/sessions/:id/visitors`, oldest first. */
export function getVisitors(parts: VisitorPorts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/visitors',
    operationId: 'listVisitors',
    summary: 'The visitors of a session whose tokens have not expired',
    scope: 'read',
    request: { params: sessionPathSchema },
    responses: { 200: onePageOf(visitorViewSchema, 'Oldest first.').meta({ id: 'VisitorList' }) },
    handle: async ({ params }, { tenant }) => {
      const visitors = await listVisitors(parts, { tenant, session: params.id });
      return answerList(visitors.map((key) => viewVisitor(key)));
    },
  });
}

function viewVisitor({ id, name, createdAt, expiresAt }: VisitorKey): z.infer<typeof visitorViewSchema> {
  return { id, name, createdAt: new Date(createdAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() };
}

/** `DELETE /v1/sessions/:id/visitors/:visitorId`: its token is refused from then on. */
export function deleteVisitor(parts: VisitorPorts): Route {
  return route({
    method: 'delete',
    path: '/v1/sessions/:id/visitors/:visitorId',
    operationId: 'revokeVisitor',
    summary: "End a visitor's token before it expires",
    description: 'Calls with it are refused at once; its streams end within `http.streamCheckMs`. Its messages stay.',
    scope: 'submit',
    errors: ['visitor.not-found'],
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
