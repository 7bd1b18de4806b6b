import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const { buildConsole, buildGuide } = (await import(
  new URL('../../../services/local/set-up/build-pages.mjs', import.meta.url).href
)) as Record<'buildConsole' | 'buildGuide', (root: string) => Promise<void>>;

let root: string;
const at = (path: string): string => join(root, path);
const SOURCE = 'services/dashboard/console/parts/icon.tsx';
const PAGE = 'services/dashboard/dist/index.html';
const GUIDE = 'services/dashboard/guide/dist/index.html';

/** Notes each build, and writes the page as Vite does. */
const VITE = `
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
execFileSync('sh', ['-c', 'echo "$NODE_ENV $0" >> builds', process.argv[2]]);
const folder = process.argv[process.argv.indexOf('--outDir') + 1];
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/index.html', 'page');
`;
/** Killed once the page is there, and before all that belongs to it is. */
const KILLED_VITE = `${VITE}process.kill(process.pid, 'SIGKILL');`;
const BROKEN_VITE = "console.log('icon.tsx: unexpected token'); process.exitCode = 1;";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'muster-console-'));
  for (const folder of ['services/dashboard/console/parts', 'node_modules/vite/bin']) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at(SOURCE), 'one');
  writeFileSync(at('node_modules/.package-lock.json'), '{}');
  writeFileSync(at('package.json'), '{ "type": "module" }');
  writeFileSync(at('node_modules/vite/bin/vite.js'), VITE);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const builds = (): string[] => (existsSync(at('builds')) ? readFileSync(at('builds'), 'utf8').trim().split('\n') : []);

/** As if it had been changed a minute after the build. */
function touch(path: string, page = PAGE, afterMs = 60_000): void {
  const time = new Date(statSync(at(page)).mtimeMs + afterMs);
  utimesSync(at(path), time, time);
}

test('the console is built once, for production, and not again while nothing changes', async () => {
  await buildConsole(root);
  await buildConsole(root);
  expect(builds()).toEqual(['production build']);
});

test.each([SOURCE, 'services/dashboard/console/parts', 'node_modules/.package-lock.json'])(
  'a change of %s builds it again',
  async (path) => {
    await buildConsole(root);
    touch(path);
    await buildConsole(root);
    expect(builds()).toHaveLength(2);
  },
);

test('a build that was killed halfway leaves the console as it was, and is built again', async () => {
  await buildConsole(root);
  touch(SOURCE);
  writeFileSync(at('node_modules/vite/bin/vite.js'), KILLED_VITE);
  const before = statSync(at(PAGE)).mtimeMs;
  await expect(buildConsole(root)).rejects.toThrow('could not be built');
  expect(statSync(at(PAGE)).mtimeMs).toBe(before);
  writeFileSync(at('node_modules/vite/bin/vite.js'), VITE);
  await buildConsole(root);
  expect(builds()).toHaveLength(3);
});

test('of two builds at the same time the second one finds what the first one built', async () => {
  await Promise.all([buildConsole(root), buildConsole(root)]);
  expect(builds()).toHaveLength(1);
});

test('the lock of a process that was killed holds nobody up', async () => {
  mkdirSync(at('node_modules/.cache'));
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(at('node_modules/.cache/build-console.lock'), String(pid));
  await buildConsole(root);
  expect(builds()).toHaveLength(1);
});

test('a build that fails is a problem with what it said, and is tried again the next time', async () => {
  writeFileSync(at('node_modules/vite/bin/vite.js'), BROKEN_VITE);
  await expect(buildConsole(root)).rejects.toThrow(/could not be built:\n\nicon\.tsx: unexpected token/);
  writeFileSync(at('node_modules/vite/bin/vite.js'), VITE);
  await buildConsole(root);
  expect(builds()).toHaveLength(1);
});

test('a copy without the console, as in the image, needs no build', async () => {
  rmSync(at('services/dashboard/console'), { recursive: true });
  await buildConsole(root);
  expect(builds()).toEqual([]);
});

test('the guide is built once, and again when a page of it changes, wherever that is', async () => {
  for (const folder of ['docs/.vitepress', '.github', 'services/hub', 'node_modules/vitepress/bin'])
    mkdirSync(at(folder), { recursive: true });
  const pages = ['docs/start.md', '.github/GLOSSARY.md', 'CHANGELOG.md', 'services/hub/README.md'];
  for (const page of pages) writeFileSync(at(page), '# One');
  writeFileSync(at('node_modules/vitepress/bin/vitepress.js'), VITE);
  await buildGuide(root);
  await buildGuide(root);
  expect(builds()).toHaveLength(1);
  for (const page of pages) {
    touch(page, GUIDE);
    await buildGuide(root);
    touch(page, GUIDE, -60_000);
  }
  expect(builds()).toHaveLength(1 + pages.length);
  // What the builder itself keeps beside the pages changes with each build.
  mkdirSync(at('docs/.vitepress/cache'));
  touch('docs/.vitepress', GUIDE, -60_000);
  touch('docs/.vitepress/cache', GUIDE);
  await buildGuide(root);
  expect(builds()).toHaveLength(1 + pages.length);
});
