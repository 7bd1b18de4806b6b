import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { MusterError } from '#shared/errors/index.ts';
import { withFormFile } from '../../../../../services/api/tasks/files/read-form.ts';
import { waitFor } from '../../../../support/wait-for.ts';

const TYPE = 'multipart/form-data; boundary=limit';
const MAX_BYTES = 1_000_000;
const END = '\r\n--limit--\r\n';

const head = (disposition: string, type = ''): string =>
  `--limit\r\nContent-Disposition: form-data; ${disposition}\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}\r\n`;
const fileHead = (name: string, type?: string): string => head(`name="file"; filename="${name}"`, type);

async function* inPieces(text: string | Buffer, bytes = 65_536): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  for (let at = 0; at < body.length; at += bytes) yield body.subarray(at, at + bytes);
}

async function* thenFails(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  throw new MusterError('request.timeout', 'The body did not go on');
}

async function read(body: AsyncIterable<Uint8Array>, contentType = TYPE): Promise<{ name: string; mediaType: string; content: Buffer }> {
  return await withFormFile(body, { contentType, maxBytes: MAX_BYTES }, async ({ name, mediaType, content }) => ({
    name,
    mediaType,
    content: await buffer(content),
  }));
}

describe('the file of a form', () => {
  it.each([1, 7, 64, 65_536])('is what was sent, in pieces of %i bytes, and fields beside it are skipped', async (bytes) => {
    const content = Buffer.from('\r\n--limi\r\n--\0\r\n\r\n--limit', 'latin1').subarray(0, -1);
    const form = Buffer.concat([
      Buffer.from(`before\r\n${head('name="note"')}some text\r\n${fileHead('ä%22b.csv', 'Text/CSV')}`),
      content,
      Buffer.from(`\r\n${head('name="other"')}more${END}after`),
    ]);
    expect(await read(inPieces(form, bytes))).toEqual({ name: 'ä"b.csv', mediaType: 'text/csv', content });
  });

  it('may be beside as many fields as a form may have parts', async () => {
    const form = `${fileHead('a')}1${`\r\n${head('name="x"')}`.repeat(99)}${END}`;
    expect((await read(inPieces(form))).content.toString()).toBe('1');
  });

  it('may be empty', async () => {
    expect((await read(inPieces(`${fileHead('empty')}${END}`))).content).toHaveLength(0);
  });

  it('is handed on before it has come in full', async () => {
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(`${fileHead('a.txt')}first`);
      await isRead;
      yield Buffer.from(`${' and last'.repeat(10)}${END}`);
    };
    const chunksRead = await withFormFile(body(), { contentType: TYPE, maxBytes: MAX_BYTES }, async ({ content }) => {
      const chunks: string[] = [];
      for await (const chunk of content) {
        chunks.push(Buffer.from(chunk).toString());
        resolve();
      }
      return chunks;
    });
    expect(chunksRead[0]).toBe('first');
    expect(chunksRead.join('')).toBe(`first${' and last'.repeat(10)}`);
  });

  it('is not read faster than it is stored', async () => {
    let sent = 0;
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(fileHead('large'));
      for (; sent < 60; sent += 1) yield Buffer.alloc(16_384);
      yield Buffer.from(END);
    };
    await withFormFile(body(), { contentType: TYPE, maxBytes: MAX_BYTES }, async ({ content }) => {
      await new Promise((resolve) => setImmediate(resolve));
      expect(sent).toBeLessThan(20);
      await buffer(content);
    });
    expect(sent).toBe(60);
  });

  it('that is not wanted ends the reading of the form', async () => {
    let isOver = false;
    const body = async function* (): AsyncGenerator<Buffer> {
      try {
        yield Buffer.from(fileHead('large'));
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        isOver = true;
      }
    };
    const refusal = new MusterError('limit.bodies', 'no room');
    await expect(withFormFile(body(), { contentType: TYPE, maxBytes: MAX_BYTES }, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await waitFor(() => isOver, { deadlineMs: 2000, what: 'the end of the reading' });
  });
});

describe('a form is refused', () => {
  const one = `${fileHead('a')}1`;
  it.each([
    ['without a file', `${head('name="note"')}text${END}`, 'request.invalid'],
    ['with a part that is no part of a form', `--limit\r\nContent-Type: text/plain\r\n\r\ntext${END}`, 'request.invalid'],
    ['with several files', `${one}\r\n${fileHead('b')}2${END}`, 'request.invalid'],
    ['with a second file that is empty', `${one}\r\n${fileHead('b')}${END}`, 'request.invalid'],
    ['with more parts than it may have', `${one}${`\r\n${head('name="x"')}`.repeat(200)}${END}`, 'request.invalid'],
    ['with a file that is too large', `${fileHead('a')}${'x'.repeat(MAX_BYTES + 1)}${END}`, 'request.too-large'],
    ['that ends within its file', `${one}23`, 'request.malformed'],
    ['that ends within the head of its file', fileHead('a').slice(0, 40), 'request.malformed'],
    ['that ends before its last boundary', `${one}\r\n--limit`, 'request.malformed'],
    ['that ends within a field', `${head('name="note"')}text`, 'request.malformed'],
    ['that is none', 'no form', 'request.malformed'],
    ['that is empty', '', 'request.malformed'],
  ])('%s, before its file is complete', async (_how, form, code) => {
    await expect(read(inPieces(form))).rejects.toMatchObject({ code });
    await expect(read(inPieces(form, Math.max(3, form.length / 1000)))).rejects.toMatchObject({ code });
  });

  it('whose type names no boundary', async () => {
    await expect(read(inPieces(`${one}${END}`), 'multipart/form-data')).rejects.toMatchObject({ code: 'request.malformed' });
  });

  it('whose body fails, with the reason of that', async () => {
    await expect(read(thenFails(one))).rejects.toMatchObject({ code: 'request.timeout' });
  });
});
