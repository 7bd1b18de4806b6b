import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpServer } from '#shared/config/settings/model-settings.ts';
import type { McpClients } from '#shared/agents/mcp/mcp-clients.ts';
import { mcpOpener } from '#shared/agents/mcp/open-mcp.ts';
import { failureOf, observeRun } from '../../../support/agents/agent-run.ts';
import { serveMcp, type ServedMcp } from '../../../support/agents/mcp/mcp-tools.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('../../../support/agents/mcp/mcp-program.ts'));
const stdio: McpServer = { command: [process.execPath, PROGRAM] };

const opened: McpClients[] = [];
const servers: Server[] = [];
const served: ServedMcp[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await Promise.all(served.splice(0).map((each) => each.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(): Promise<ServedMcp> {
  const one = await serveMcp();
  served.push(one);
  return one;
}

function open(mcp: Record<string, McpServer>, allowNetworks = ['127.0.0.0/8'], signal = new AbortController().signal): McpClients {
  const openMcp = mcpOpener({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: undefined,
    openaiApiKey: undefined,
    readSecret: () => undefined,
    allowNetworks,
    maxResponseBytes: 1_000_000,
    mcp,
  });
  const clients = openMcp(observeRun({ kind: 'echo' }).run, signal);
  opened.push(clients);
  return clients;
}

describe.each(['http', 'stdio'])('tools of an MCP server by %s', (transport) => {
  const openOne = async (allow?: string[]): Promise<McpClients> => {
    const at: McpServer = transport === 'http' ? { url: (await serve()).url } : stdio;
    return open({ one: { ...at, ...(allow && { allow }) } });
  };

  it('are listed with their schemas, those that are allowed', async () => {
    const [add, ...others] = await (await openOne()).list('one');
    expect(add).toMatchObject({
      name: 'add',
      description: 'Adds two numbers.',
      of: 'mcp',
      server: 'one',
      at: 'add',
      schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
    });
    expect(others.map(({ name }) => name)).toEqual(['picture', 'fails', 'whoami', 'waits']);
    expect((await (await openOne(['fails', 'unknown'])).list('one')).map(({ name }) => name)).toEqual(['fails']);
  });

  it('are called; what fails, or does not fit, is told in the words of the server', async () => {
    const clients = await openOne();
    expect(await clients.call('one', 'add', { a: 1, b: 2 })).toBe('3');
    expect(await clients.call('one', 'picture', {})).toBe('here:\n[image image/png 4 characters of base64]');
    await expect(clients.call('one', 'fails', {})).rejects.toThrow('no luck');
    await expect(clients.call('one', 'add', { a: 'one' })).rejects.toThrow(/expected number/i);
    await expect(clients.call('one', 'nothing', {})).rejects.toThrow('nothing');
    const long = await clients.call('one', 'x'.repeat(100_000), {}).catch((error: unknown) => error);
    expect(String(long).length).toBeLessThan(5000);
    expect(await clients.call('one', 'add', { a: 3, b: 4 })).toBe('7');
  });
});

describe('a server by http', () => {
  it('may be restarted between two calls, and have other tools then', async () => {
    const one = await serve();
    const clients = open({ one: { url: one.url } });
    expect(await clients.call('one', 'add', { a: 1, b: 2 })).toBe('3');
    await one.restart('fresh');
    expect((await clients.list('one')).map(({ name }) => name)).toContain('fresh');
    expect(await clients.call('one', 'fresh', {})).toBe('new');
  });

  it('is asked at public addresses only, unless its network is allowed, and followed nowhere', async () => {
    const { url } = await serve();
    const hosts = [url, 'http://169.254.169.254/latest', 'http://[::1]:8080/', 'http://10.0.0.1/'];
    for (const each of hosts)
      expect(await failureOf(open({ one: { url: each } }, []).list('one'))).toMatchObject({
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining('outbound.allowNetworks'),
      });
    const redirects = createServer((_request, response) => response.writeHead(307, { location: url }).end());
    servers.push(redirects);
    redirects.listen(0, '127.0.0.1');
    await once(redirects, 'listening');
    const address = redirects.address();
    const at = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
    expect(await failureOf(open({ one: { url: at } }).list('one'))).toMatchObject({ code: 'MCP_ERROR' });
  });

  it('that is gone is asked again by the next attempt', async () => {
    const one = await serve();
    const clients = open({ one: { url: one.url } });
    await clients.list('one');
    await one.close();
    served.splice(0);
    expect(await failureOf(clients.call('one', 'add', { a: 1, b: 2 }))).toMatchObject({ code: 'NETWORK_ERROR', class: 'transient' });
  });

  it.each([
    ['no server at all', 200, '<p>Hello</p>', 'MCP_ERROR'],
    ['a server that is broken', 500, 'oops', 'MCP_ERROR'],
    ['a server that refuses its key', 401, 'who are you', 'PERMISSION_DENIED'],
  ])('fails by its code: %s', async (_what, status, body, code) => {
    const server = createServer((_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end(body));
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
    expect(await failureOf(open({ one: { url } }).list('one'))).toMatchObject({ code });
  });

  it('has to be in the configuration', async () => {
    expect(await failureOf(open({}).list('one'))).toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  });
});

describe('a server by stdio', () => {
  it('is called for no longer than its attempt lasts, and not after that', async () => {
    const controller = new AbortController();
    const clients = open({ one: stdio }, [], controller.signal);
    await clients.list('one');
    const calling = clients.call('one', 'waits', {});
    controller.abort(new Error('stopped'));
    await expect(calling).rejects.toThrow('stopped');
    await clients.close();
    await expect(clients.call('one', 'add', { a: 1, b: 2 })).rejects.toThrow('stopped');
  });

  it('is kept apart: it works in a folder of its own', async () => {
    const given = JSON.parse(await open({ one: stdio }).call('one', 'whoami', {})) as { cwd: string; home: string };
    expect(given.cwd).toContain('muster-attempt-');
    expect(given.home).toContain('muster-attempt-');
  });

  it.each([
    ['is not there', ['/no/such/program'], 'RESOURCE_NOT_FOUND'],
    ['ends at once', [process.execPath, '-e', 'process.exit(3)'], 'MCP_ERROR'],
  ])('fails by its code when its program %s', async (_what, command, code) => {
    expect(await failureOf(open({ one: { command } }).list('one'))).toMatchObject({ code });
  });
});
