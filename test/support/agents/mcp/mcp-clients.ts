import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

interface Server {
  url: string;
  key: string;
  /** Headers that are sent besides. */
  headers?: Record<string, string>;
}

/** The official client, which speaks the newest revision that the server has. */
export async function connectClient({ url, key, headers = {} }: Server, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, ...options });
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  return client;
}

/** The official client of the era before. */
export async function connectLegacyClient({ url, key, headers = {} }: Server): Promise<LegacyClient> {
  const client = new LegacyClient({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } };
  await client.connect(new LegacyTransport(new URL('/mcp', url), { requestInit }));
  return client;
}
