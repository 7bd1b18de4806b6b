import type { Reply } from '../../call-api.ts';

interface McpServer {
  url: string;
  key: string;
}

interface MessageOptions {
  params?: Record<string, unknown>;
  /** What the client can do. */
  capabilities?: object;
  headers?: Record<string, string>;
}

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const FORMS = { elicitation: { form: {} } };

/** Sends one message of the revision 2026-07-28, as it is on the wire. */
export async function callMcp(
  { url, key }: McpServer,
  method: string,
  options: MessageOptions = {},
): Promise<Pick<Reply, 'status' | 'body'>> {
  const { params = {}, capabilities = {}, headers = {} } = options;
  const name = params['name'] ?? params['taskId'] ?? params['uri'];
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as unknown) };
}
