import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Answer, assertOwnOrigin, type Route, route } from '#shared/http/index.ts';
import { fleetTools } from './fleet-tools.ts';
import { McpRequest, type McpPorts, routesOf } from './mcp-request.ts';
import { challengeOf, type ProtectedResource } from './protected-resource.ts';

/** One message of JSON-RPC; the SDK checks the rest. */
const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string().max(200).optional() });

/** Streams of changes: nothing here changes without a request. */
const NOT_SERVED = new Set(['subscriptions/listen']);
const METHOD_NOT_FOUND = -32_601;

/** `POST /mcp`: the fleet as a server of the Model Context Protocol, in both of its eras, without sessions. */
export function mcpRoute(ports: McpPorts, all: readonly Route[], resource: ProtectedResource | null): Route {
  const routes = routesOf(all);
  const tools = fleetTools(routes);
  return route({
    method: 'post',
    path: '/mcp',
    operationId: 'callMcp',
    summary: 'Send a message of the Model Context Protocol',
    scope: 'read',
    audit: 'never',
    takesAccessTokens: true,
    ...(resource === null ? {} : { challenge: (request) => challengeOf(resource, request) }),
    request: { body: messageSchema },
    responses: { 200: z.looseObject({}), 202: z.null() },
    handle: async ({ body }, call) => {
      // A browser that is signed in sends its cookie whoever wrote the page.
      if (call.headers.authorization === undefined) throw new MusterError('auth.missing', 'Send a key: Authorization: Bearer <key>');
      assertOwnOrigin(call, ports.config.env.MUSTER_PUBLIC_URL);
      if (body.method !== undefined && NOT_SERVED.has(body.method)) return notServed(body);
      // Loaded for the first message: many installations get none, and it takes 14 MB.
      const { serveMessage } = await import('./serve-message.ts');
      return await serveMessage(new McpRequest(call, ports, routes), tools, body);
    },
  });
}

function notServed({ id, method }: Readonly<Record<string, unknown>>): Answer {
  const error = { code: METHOD_NOT_FOUND, message: `${String(method)} is not served: ask again for what may have changed` };
  return { status: 200, body: { jsonrpc: '2.0', id: id ?? null, error } };
}
