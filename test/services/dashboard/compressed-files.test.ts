import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compressedFiles } from '../../../services/dashboard/compressed-files.ts';

const SCRIPT = 'export const words = "again and again and again and again";\n'.repeat(50);
let folder: string;
let server: Server;
let base: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-files-'));
  server = createServer(express().use('/assets', ...compressedFiles(folder))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // After the server: a console may be built while it runs.
  await writeFile(join(folder, 'main-abc.js'), SCRIPT);
  await writeFile(join(folder, 'main-abc.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'main-abc.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(folder, 'plain-abc.css'), 'a { color: red }');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await rm(folder, { recursive: true, force: true });
});

const get = async (name: string, accepted: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${base}/assets/${name}`, { headers: { 'accept-encoding': accepted, ...headers } });

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['identity', null],
  ['br;q=0, gzip;q=0', null],
])('who takes %s gets the script as %s', async (accepted, encoding) => {
  const answer = await get('main-abc.js?from=page', accepted);
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(answer.headers.get('vary')).toBe('Accept-Encoding');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(await answer.text()).toBe(SCRIPT);
});

test('each form has a tag of its own, and is not sent again to who has it', async () => {
  const tags: string[] = [];
  for (const accepted of ['br', 'gzip', 'identity']) {
    const answer = await get('main-abc.js', accepted);
    await answer.text();
    const tag = answer.headers.get('etag') ?? '';
    tags.push(tag);
    const again = await get('main-abc.js', accepted, { 'if-none-match': tag, 'cache-control': 'max-age=0' });
    expect([again.status, again.headers.get('vary')]).toEqual([304, 'Accept-Encoding']);
  }
  expect(new Set(tags).size).toBe(3);
});

test('a file without other forms is sent as it is, and one that is not there is not found', async () => {
  const plain = await get('plain-abc.css', 'br, gzip');
  expect([plain.status, plain.headers.get('content-encoding'), await plain.text()]).toEqual([200, null, 'a { color: red }']);
  for (const name of ['main-old.js', '', '..%2fpackage.json', '%00'])
    expect((await get(name, 'br, gzip')).status).toBeGreaterThanOrEqual(400);
});
