import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { builtConsole } from '../built-console.ts';

// The console may have to be built first.
vi.setConfig({ testTimeout: 120_000 });

const chunkSchema = z.object({ file: z.string(), imports: z.array(z.string()).default([]) });

const MAX_BYTES = 200 * 1024;

it('the first page loads at most 200 KB of scripts, compressed', async () => {
  const built = await builtConsole();
  const manifest = z.record(z.string(), chunkSchema).parse(JSON.parse(await readFile(join(built, '.vite/manifest.json'), 'utf8')));
  const files = new Set<string>();
  const addChunk = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`The manifest of the build does not have ${name}`);
    const { file, imports } = chunk;
    if (files.has(file)) return;
    files.add(file);
    for (const each of imports) addChunk(each);
  };
  for (const name of ['index.html', 'pages/overview/overview-page.tsx']) addChunk(name);
  const sizes = await Promise.all([...files].map(async (file) => (await stat(join(built, `${file}.gz`))).size));
  expect(files.size).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
});
