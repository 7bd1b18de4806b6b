import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { homedir } from 'node:os';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A server with a few tools, as its official SDK makes one. `extra` adds one of that name. */
export function createMcpTools({ extra }: { extra?: string | undefined } = {}): McpServer {
  const server = new McpServer({ name: 'tools', version: '1.0.0' });
  const numbers = z.object({ a: z.number(), b: z.number() });
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: numbers }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  server.registerTool('picture', { description: 'Draws.', inputSchema: z.object({}) }, () => ({
    content: [
      { type: 'text', text: 'here:' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
  }));
  server.registerTool('fails', { description: 'Fails.', inputSchema: z.object({}) }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'no luck' }],
  }));
  server.registerTool('whoami', { description: 'Says where it runs.', inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: JSON.stringify({ uid: process.getuid?.(), cwd: process.cwd(), home: homedir() }) }],
  }));
  server.registerTool('waits', { description: 'Never answers.', inputSchema: z.object({}) }, () => new Promise(() => undefined));
  if (extra !== undefined)
    server.registerTool(extra, { description: 'New.', inputSchema: z.object({}) }, () => ({ content: [{ type: 'text', text: 'new' }] }));
  return server;
}

/** A server on the loopback that can be restarted at its address, with one more tool. */
export interface ServedMcp {
  readonly url: string;
  restart(extra: string): Promise<void>;
  close(): Promise<void>;
}

/** Serves the tools by streamable HTTP. */
export async function serveMcp(): Promise<ServedMcp> {
  let { server, port } = await listen(0);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    restart: async (extra) => {
      await close();
      ({ server, port } = await listen(port, extra));
    },
    close,
  };
}

async function listen(port: number, extra?: string): Promise<{ server: Server; port: number }> {
  const handler = toNodeHandler(createMcpHandler(() => createMcpTools({ extra })));
  const server = createServer((request, response) => void handler(request as never, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : port };
}
