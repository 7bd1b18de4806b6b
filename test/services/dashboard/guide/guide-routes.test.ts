import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import express from 'express';
import { expect, it } from 'vitest';
import { guideRoutes } from '../../../../services/dashboard/guide/guide-routes.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { serveApp } from '../../../support/serve-app.ts';
import { useFolder } from '../../../support/use-folder.ts';

const folder = await useFolder('muster-guide-');
const { url } = closeAfterTests(await serveApp(express().use(guideRoutes(folder))));
const get = (path: string): Promise<Response> => fetch(`${url}${path}`);
const headersOf = async (path: string, name: string): Promise<string | null> => (await get(path)).headers.get(name);

it('tells how to build the guide, and shows it once it is built', async () => {
  const before = await get('/guide/');
  expect([before.status, await before.text()]).toEqual([503, expect.stringContaining('npm start')]);

  await mkdir(join(folder, 'assets'));
  await mkdir(join(folder, 'reference'));
  await writeFile(join(folder, 'index.html'), 'first page');
  await writeFile(join(folder, 'start.html'), 'start');
  await writeFile(join(folder, 'reference/glossary.html'), 'words');
  await writeFile(join(folder, '404.html'), 'no such page');
  await writeFile(join(folder, 'llms.txt'), 'pages');
  await writeFile(join(folder, 'assets/app.abc.js'), 'script');
  const texts = await Promise.all(
    ['/guide', '/guide/', '/guide/start', '/guide/reference/glossary', '/guide/llms.txt'].map(async (path) => (await get(path)).text()),
  );
  expect(texts).toEqual(['first page', 'first page', 'start', 'words', 'pages']);
  const missing = await get('/guide/nothing');
  expect([missing.status, await missing.text()]).toEqual([404, 'no such page']);
});

it('lets browsers keep the assets, whose names change, and not the pages', async () => {
  expect(await headersOf('/guide/assets/app.abc.js', 'cache-control')).toContain('immutable');
  expect(await headersOf('/guide/start', 'cache-control')).toBe('no-cache');
  expect(await headersOf('/guide/start', 'content-security-policy')).toContain("script-src 'self';");
});

it('takes nothing but reads', async () => {
  const answer = await fetch(`${url}/guide/start`, { method: 'POST' });
  expect([answer.ok, answer.headers.get('allow')]).toEqual([false, 'GET, HEAD']);
});
