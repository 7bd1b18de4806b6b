import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../../../../services/cli/client/api-client.ts';
import { McpBridge } from '../../../../services/cli/mcp/mcp-bridge.ts';
import { freePort } from '../../../support/free-port.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useApi } from '../../api/support/use-api.ts';
import { startFakeApi } from '../fake-api.ts';
import { runMuster } from '../run-muster.ts';
import { type Handlers, useMuster } from '../use-muster.ts';

const MUSTER = fileURLToPath(new URL('../../../../services/local/muster.mjs', import.meta.url));
const { muster, api: fake } = useMuster();
const api = await useApi();
await useWorker(api.parts);

const texts = z.record(z.string(), z.string());
/** The documentation's address and key as they are here. */
const own = (text: string): string => text.replace('https://muster.example', api.url).replace('mk_...', api.key);
/** What hosts read, as of Claude Code, Cursor and VS Code. */
const hostSchema = z.strictObject({
  mcpServers: z.strictObject({
    muster: z.union([
      z.strictObject({ type: z.literal('http'), url: z.url(), headers: texts }),
      z.strictObject({ command: z.string(), args: z.array(z.string()), env: texts }),
    ]),
  }),
});

interface Message {
  jsonrpc: string;
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

const request = (id: unknown, method: string, params: object = {}): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const REVISION = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const modern = (id: unknown, method: string, params: object = {}): string => request(id, method, { ...params, _meta: REVISION });

function messagesOf(stdout: string): Message[] {
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message);
}

/** What comes back for these lines of a host. */
async function exchange(handlers: Handlers, lines: readonly string[]): Promise<Message[]> {
  const { code, stdout, stderr } = await muster(handlers, ['mcp'], lines.map((line) => `${line}\n`).join(''));
  expect([code, stderr]).toEqual([0, '']);
  return messagesOf(stdout);
}

const answering = (text: string, type = 'application/json', status = 200): Handlers => ({
  'POST /mcp': (response) => {
    response.writeHead(status, { 'Content-Type': type });
    response.end(text);
  },
});
const RESULT = { jsonrpc: '2.0', id: 1, result: { tools: [] } };

describe('muster mcp hands on', () => {
  it('a message as it is, with the key and the headers of the protocol, and the answer as it is', async () => {
    const text = modern(1, 'tools/call', { name: 'get_task', arguments: { id: 'x', n: 1.0 } });
    const answer = '{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890}}';
    const { stdout } = await muster(answering(answer), ['mcp'], `${text}\n`);
    expect(stdout).toBe(`${answer}\n`);
    expect(fake().requests).toMatchObject([
      {
        body: text,
        headers: {
          authorization: 'Bearer a-key',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'get_task',
        },
      },
    ]);
  });

  it('a name that no header can have, encoded', async () => {
    await exchange(answering(JSON.stringify(RESULT)), [modern(1, 'resources/read', { uri: 'muster://sessions/ü' })]);
    expect(fake().requests[0]?.headers['mcp-name']).toBe(`=?base64?${Buffer.from('muster://sessions/ü').toString('base64')}?=`);
  });

  it('the messages of a stream of events, one a line', async () => {
    const events = `: heartbeat\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\nevent: message\ndata: ${JSON.stringify(RESULT)}\n\n`;
    const got = await exchange(answering(events, 'text/event-stream'), [request(1, 'tools/list')]);
    expect(got).toEqual([{ jsonrpc: '2.0', method: 'notifications/progress' }, RESULT]);
  });

  it('a notification, whose answer is for nobody', async () => {
    const got = await exchange(answering('', 'text/plain', 202), [JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })]);
    expect(got).toEqual([]);
    expect(fake().requests).toHaveLength(1);
  });

  it('an error of the protocol, whatever its status', async () => {
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32_020, message: 'Header mismatch' } };
    expect(await exchange(answering(JSON.stringify(error), 'application/json', 400), [modern(1, 'tools/list')])).toEqual([error]);
  });
});

describe('muster mcp answers itself', () => {
  const problem = JSON.stringify({ code: 'auth.invalid', detail: 'This key is not known' });

  it.each([
    ['a key that is refused', answering(problem, 'application/problem+json', 401), 'This key is not known', 'auth.invalid'],
    ['a page of a proxy', answering('<html>', 'text/html', 200), 'did not answer with a message', 'answer.unexpected'],
    ['an answer with nothing', answering(''), 'did not answer with a message', 'answer.unexpected'],
  ] as const)('%s', async (_what, handlers, message, code) => {
    const [got] = await exchange(handlers, [request('a', 'tools/call', { name: 'x' })]);
    expect(got).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32_000, data: { code } } });
    expect(got?.error?.message).toContain(message);
  });

  it('what is no message, or too long, and goes on', async () => {
    const got = await exchange(answering(JSON.stringify(RESULT)), ['hello', '', 'x'.repeat(17_000_000), request(1, 'tools/list')]);
    expect(got).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'This is no message of JSON-RPC' } },
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'The message is too long' } },
      RESULT,
    ]);
  });

  it('a second request with an id that is on its way', async () => {
    const got = await exchange(answering(JSON.stringify(RESULT)), [request(1, 'tools/list'), request(1, 'tools/list')]);
    expect(got.map(({ error, result }) => error?.message ?? result)).toEqual(['A request with this id is on its way', RESULT.result]);
  });

  it('nothing to a request that the host cancelled, whose connection it ends', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const silent = await startFakeApi({ 'POST /mcp': (response) => void response.on('close', resolve) });
    const written: string[] = [];
    const bridge = new McpBridge({ connect: () => new ApiClient({ url: silent.url, key: 'a-key' }), write: (text) => written.push(text) });
    bridge.handle(request(7, 'tools/call', { name: 'x' }));
    await waitFor(() => silent.requests.length === 1, { deadlineMs: 5000, what: 'the request' });
    bridge.handle(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }));
    await Promise.all([ended, bridge.idle()]);
    expect(written).toEqual([]);
    await silent.close();
  });

  it('that it has no key, before any message', async () => {
    const { code, stdout, stderr } = await runMuster(['mcp'], {
      env: { MUSTER_URL: 'http://127.0.0.1:9' },
      input: request(1, 'tools/list'),
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('There is no key');
  });
});

describe('while the fleet is started again', () => {
  const cut: Handlers = {
    'POST /mcp': (response, { headers }) => {
      tries += 1;
      if (tries <= 2) response.destroy();
      else
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(JSON.stringify({ ...RESULT, result: { version: headers['mcp-protocol-version'] } }));
    },
  };
  let tries = 0;
  afterEach(() => {
    tries = 0;
  });

  it('a read is sent again until it is answered', async () => {
    expect(await exchange(cut, [modern(1, 'tools/list')])).toMatchObject([{ result: { version: '2026-07-28' } }]);
    expect(tries).toBe(3);
  });

  it('a call of a tool is not, because it may have been done', async () => {
    const [got] = await exchange(cut, [modern(1, 'tools/call', { name: 'send_task' })]);
    expect(got?.error?.message).toContain('The fleet may have done it all the same: list_tasks shows what it has.');
    expect(tries).toBe(1);
  });

  it('a call that cannot have arrived is, also at another address', async () => {
    const late = await startFakeApi(answering(JSON.stringify(RESULT)));
    const urls = [`http://127.0.0.1:${await freePort()}`, late.url];
    const written: string[] = [];
    const connect = (): ApiClient => new ApiClient({ url: urls.length > 1 ? (urls.shift() ?? '') : late.url, key: 'a-key' });
    const bridge = new McpBridge({ connect, write: (text) => written.push(text) });
    bridge.handle(modern(1, 'tools/call', { name: 'send_task' }));
    await bridge.idle();
    expect(written.map((text) => JSON.parse(text) as unknown)).toEqual([RESULT]);
    await late.close();
  });
});

describe('an official client that starts muster mcp', () => {
  const program = {
    command: process.execPath,
    args: [MUSTER, 'mcp'],
    env: childEnvironment({ MUSTER_URL: api.url, MUSTER_API_KEY: api.key }),
  };

  it('of 2026-07-28 has the tools of the fleet, and their results', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport(program));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['send_task', 'echo']));
    expect(await client.callTool({ name: 'echo', arguments: { input: 'hi' } })).toMatchObject({ content: [{ text: 'hi' }] });
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('not found');
    await client.close();
  });

  it('does so by the lines of the documentation, as a host reads them', async () => {
    const page = await readFile(new URL('../../../../docs/mcp.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```json\n([\s\S]+?)```/g)].map(
      ([, json = '']) => hostSchema.parse(JSON.parse(json)).mcpServers.muster,
    );
    const [byHttp, byProgram] = blocks;
    if (byHttp === undefined || !('url' in byHttp) || byProgram === undefined || !('command' in byProgram))
      throw new Error('They are gone');
    const { command, args, env } = byProgram;
    const values = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, own(value)]));
    const headers = Object.fromEntries(Object.entries(byHttp.headers).map(([name, value]) => [name, own(value)]));
    const cwd = fileURLToPath(new URL('../../../..', import.meta.url));
    const transports = [
      new StdioClientTransport({ command, args, cwd, env: childEnvironment(values) }),
      new StreamableHTTPClientTransport(new URL(own(byHttp.url)), { requestInit: { headers } }),
    ];
    for (const transport of transports) {
      const client = new Client({ name: 'host', version: '1' });
      await client.connect(transport);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['send_task', 'echo']));
      await client.close();
    }
  });

  it('of 2025-11-25 too', async () => {
    const client = new LegacyClient({ name: 'test', version: '1' });
    await client.connect(new LegacyTransport(program));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['send_task', 'echo']));
    expect(await client.callTool({ name: 'echo', arguments: { input: 'hi' } })).toMatchObject({ content: [{ text: 'hi' }] });
    await client.close();
  });
});
