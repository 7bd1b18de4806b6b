import { z } from 'zod';

/** As much of a message of JSON-RPC as is read on its way. */
const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});
export type McpMessage = z.infer<typeof messageSchema>;

/** Null for what is no message. */
export function readMessage(text: string): McpMessage | null {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const REVISION = 'io.modelcontextprotocol/protocolVersion';
/** What names the object of a message, by the order in which it is looked for. */
const NAMES = ['name', 'uri', 'taskId'];

/** The headers by which streamable HTTP says what is in a message. `negotiated`: the revision of a connection that began with a handshake. */
export function headersOf({ method, params = {} }: McpMessage, negotiated: string | null): Record<string, string> {
  const meta = z.record(z.string(), z.unknown()).safeParse(params['_meta']).data ?? {};
  const revision = meta[REVISION];
  if (typeof revision !== 'string') return negotiated === null ? {} : { 'MCP-Protocol-Version': negotiated };
  const name = NAMES.map((each) => params[each]).find((each) => typeof each === 'string');
  return {
    'MCP-Protocol-Version': revision,
    ...(method === undefined ? {} : { 'Mcp-Method': encode(method) }),
    ...(typeof name === 'string' ? { 'Mcp-Name': encode(name) } : {}),
  };
}

/** What no header can have goes as Base64, marked as the protocol says. */
function encode(text: string): string {
  const isPlain = /^[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Reads change nothing: they may be sent again when their answer was lost. */
export function isRepeatable({ method }: McpMessage): boolean {
  return method !== 'tools/call' && method !== 'tasks/update';
}

/** The revision that the answer to a handshake has. */
export function negotiatedIn(text: string): string | null {
  const { result } = readMessage(text) ?? {};
  return z.object({ protocolVersion: z.string() }).safeParse(result).data?.protocolVersion ?? null;
}
