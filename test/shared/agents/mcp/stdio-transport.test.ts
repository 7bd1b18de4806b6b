import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@ai-sdk/mcp';
import { expect, it, vi } from 'vitest';
import { StdioTransport } from '#shared/agents/mcp/stdio-transport.ts';

const MEGABYTE = 1024 * 1024;

function startProgram() {
  const ended = Promise.withResolvers<string>();
  const close = vi.fn<() => Promise<void>>(() => {
    ended.resolve('code 0');
    return Promise.resolve();
  });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  return { program: { stdin, stdout, stderr, ended: ended.promise, close }, stdout, close, end: ended.resolve };
}

async function open(program: ReturnType<typeof startProgram>['program']) {
  const transport = new StdioTransport(program);
  const [messages, errors, closes]: [JSONRPCMessage[], Error[], unknown[]] = [[], [], []];
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => void messages.push(message),
    onerror: (error: Error) => void errors.push(error),
    onclose: () => void closes.push(null),
  });
  await transport.start();
  return { transport, messages, errors, closes };
}

it('reads a message a line, also of characters in pieces, and leaves out what is none', async () => {
  const { program, stdout } = startProgram();
  const { messages } = await open(program);
  const line = Buffer.from(`listening\n{"jsonrpc":"2.0","id":1,"result":{"text":"für"}}\r\n{"jsonrpc":"1.0"}\n`);
  for (const byte of line) stdout.write(Buffer.from([byte]));
  await vi.waitFor(() => expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { text: 'für' } }]));
});

it('ends a program that writes a line without an end, and keeps nothing of it', async () => {
  const { program, stdout, close } = startProgram();
  const { errors, closes, messages } = await open(program);
  for (let megabytes = 0; megabytes < 20; megabytes += 1) stdout.write('x'.repeat(MEGABYTE));
  await vi.waitFor(() => expect(closes).toHaveLength(1));
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('characters')]);
  expect(close).toHaveBeenCalledTimes(1);
  stdout.write('\n{"jsonrpc":"2.0","id":1,"result":{}}\n');
  await new Promise(setImmediate);
  expect(messages).toEqual([]);
});

it('is closed once, whoever closes it and however often', async () => {
  const { program, close } = startProgram();
  const { transport, closes } = await open(program);
  await Promise.all([transport.close(), transport.close()]);
  await transport.close();
  await new Promise(setImmediate);
  expect([close.mock.calls.length, closes.length]).toEqual([1, 1]);
});

it('says how a program ended, in few words', async () => {
  const { program, end } = startProgram();
  const { errors, closes } = await open(program);
  end('code 3');
  await vi.waitFor(() => expect(closes).toHaveLength(1));
  expect(errors.map(({ message }) => message)).toEqual(['The program has ended (code 3)']);
});
