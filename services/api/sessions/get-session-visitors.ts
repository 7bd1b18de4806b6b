import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { listVisitors, type VisitorKey } from '#shared/tenants/index.ts';
import { sessionPathSchema } from './session-path.ts';

const visitorViewSchema = z
  .strictObject({
    id: z.string(),
    name: z.string().meta({ description: 'Who writes the messages that come with it.' }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'Visitor' });

/** `GET /v1/sessions/:id/visitors`, oldest first. */
export function getSessionVisitors(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/visitors',
    summary: 'The visitors of a session whose tokens have not expired',
    scope: 'read',
    request: { params: sessionPathSchema },
    responses: { 200: z.strictObject({ items: z.array(visitorViewSchema), nextCursor: z.null() }) },
    handle: async ({ params }, { tenant }) => {
      const visitors = await listVisitors(parts, { tenant, session: params.id });
      return { status: 200, body: { items: visitors.map((key) => viewVisitor(key)), nextCursor: null } };
    },
  });
}

function viewVisitor({ id, name, createdAt, expiresAt }: VisitorKey): z.infer<typeof visitorViewSchema> {
  return { id, name, createdAt: new Date(createdAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() };
}
