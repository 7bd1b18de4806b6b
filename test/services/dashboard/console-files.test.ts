import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { expect, test } from 'vitest';
import { compressedFiles } from '../../../services/dashboard/console-files.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { serveApp } from '../../support/serve-app.ts';
import { useFolder } from '../../support/use-folder.ts';

const SCRIPT = 'export const words = "again and again and again and again";\n'.repeat(50);

const folder = await useFolder('muster-files-');
const { url: base } = closeAfterTests(await serveApp(express().use('/assets', ...compressedFiles(folder))));
// After the server: a console may be built while it runs.
await writeFile(join(folder, 'main-abc.js'), SCRIPT);
await writeFile(join(folder, 'main-abc.js.br'), brotliCompressSync(SCRIPT));
await writeFile(join(folder, 'main-abc.js.gz'), gzipSync(SCRIPT));
await writeFile(join(folder, 'plain-abc.css'), 'a { color: red }');

const get = async (name: string, accepted: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${base}/assets/${name}`, { headers: { 'accept-encoding': accepted, ...headers } });

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['identity', null],
  ['br;q=0, gzip;q=0', null],
])('a caller that accepts %s gets the script as %s', async (accepted, encoding) => {
  const answer = await get('main-abc.js?from=page', accepted);
  expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(answer.headers.get('vary')).toBe('Accept-Encoding');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(await answer.text()).toBe(SCRIPT);
});

test('each encoding has its own tag, and is not sent again to a caller that has it', async () => {
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

test('a file without compressed forms is sent uncompressed, and a missing file is not found', async () => {
  const plain = await get('plain-abc.css', 'br, gzip');
  expect([plain.status, plain.headers.get('content-encoding'), await plain.text()]).toEqual([200, null, 'a { color: red }']);
  for (const name of ['main-old.js', '', '..%2fpackage.json', '%00'])
    expect((await get(name, 'br, gzip')).status).toBeGreaterThanOrEqual(400);
});
