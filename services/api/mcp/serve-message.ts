import { Readable } from 'node:stream';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Answer, Call } from '#shared/http/index.ts';
import { createMcpServer } from './create-mcp-server.ts';
import type { FleetTool } from './fleet-tools.ts';
import type { McpRequest } from './mcp-request.ts';

/** The headers that the protocol reads. */
const PASSED = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/** Has the official SDK answer a message, by a server that is made for it. */
export async function serveMessage(request: McpRequest, tools: ReadonlyMap<string, FleetTool>, body: unknown): Promise<Answer> {
  const { call } = request;
  const handler = createMcpHandler((context) => createMcpServer(request, tools, context), {
    onerror: (error) => call.log.debug({ event: 'mcp.refused', reason: error.message.slice(0, 500) }, 'A message of MCP was refused'),
  });
  return await asAnswer(await handler.fetch(asRequest(call), { parsedBody: body }));
}

/** The body is read already. */
function asRequest({ headers }: Call): Request {
  const passed = PASSED.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as [string, string]] : []));
  return new Request('http://muster/mcp', { method: 'POST', headers: passed });
}

async function asAnswer({ status, headers, body }: Response): Promise<Answer> {
  const type = headers.get('content-type');
  const answered = { status, headers: { ...(type === null ? {} : { 'Content-Type': type }), 'X-Accel-Buffering': 'no' } };
  if (body === null) return answered;
  return { ...answered, stream: Readable.fromWeb(body) };
}
