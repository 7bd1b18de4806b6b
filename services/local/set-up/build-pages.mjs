import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines, runStep, SetUpProblem } from './programs.mjs';

/** Builds the console, which the dashboard serves. */
export async function buildConsole(root) {
  const dashboard = join(root, 'services', 'dashboard');
  const sources = join(dashboard, 'console');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  await buildPages(root, {
    name: 'console',
    // The client for other programs is built with it.
    sources: [sources, join(root, 'shared', 'client')],
    built: join(dashboard, 'dist'),
    command: (draft) => [vite, 'build', sources, '--outDir', draft, '--emptyOutDir'],
  });
}

/** Builds the guide from `docs/`, which the dashboard serves at `/guide/`. */
export async function buildGuide(root) {
  const docs = join(root, 'docs');
  const vitepress = join(root, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
  await buildPages(root, {
    name: 'guide',
    // Pages of the guide are made of these, too.
    sources: [docs, join(root, '.github', 'GLOSSARY.md'), join(root, 'CHANGELOG.md'), ...readmesOf(join(root, 'services'))],
    built: join(root, 'services', 'dashboard', 'guide', 'dist'),
    command: (draft) => [vitepress, 'build', docs, '--outDir', draft],
  });
}

/** Runs a builder when one of its sources is newer than the last build. */
async function buildPages(root, { name, sources, built, command }) {
  if (!existsSync(sources[0])) return;
  const page = join(built, 'index.html');
  // New libraries require a new build, too.
  const inputs = [...sources, join(root, 'node_modules', '.package-lock.json')];
  const isUpToDate = () => existsSync(page) && Math.max(...inputs.map(newestIn)) <= changedAt(page);
  if (isUpToDate()) return;
  const unlock = await lock(root, name);
  try {
    // Another process may have built them meanwhile.
    if (!isUpToDate()) await build(root, { name, built, command });
  } finally {
    unlock();
  }
}

async function build(root, { name, built, command }) {
  // A build that was killed leaves half a draft and never half of the pages.
  const draft = `${built}.draft`;
  rmSync(draft, { recursive: true, force: true });
  const env = { ...process.env, NODE_ENV: 'production' };
  const result = await runStep(`building the ${name}`, [nodeOf(root), ...command(draft)], { cwd: root, env });
  if (!result.ok) throw new SetUpProblem(`The ${name} could not be built:\n\n${lastLines(result.output)}`);
  // VitePress removes its temporary folder last, which changes the time of a folder of sources.
  const now = new Date();
  utimesSync(join(draft, 'index.html'), now, now);
  rmSync(built, { recursive: true, force: true });
  renameSync(draft, built);
}

/** Two builds of the same pages would write into each other's files. Resolves to what ends the lock; that of a killed process does not count. */
async function lock(root, name) {
  const folder = join(root, 'node_modules', '.cache');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `build-${name}.lock`);
  while (!isWritten(file)) {
    if (isHeld(file)) await delay(LOOK_MS);
    else rmSync(file, { force: true });
  }
  return () => rmSync(file, { force: true });
}

const LOOK_MS = 100;

/** Writes the file with this process's id, unless it is there. */
function isWritten(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the process in it runs. For a moment there is none in it yet. */
function isHeld(file) {
  const pid = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (pid === '') return Date.now() - changedAt(file) < 1000;
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readmesOf(services) {
  if (!existsSync(services)) return [];
  return readdirSync(services).map((name) => join(services, name, 'README.md'));
}

/** The provided Node, because the Node that runs this script may be too old for the builders. */
function nodeOf(root) {
  const provided = join(root, 'node_modules', '.bin', 'node');
  return existsSync(provided) ? provided : process.execPath;
}

/** What builders keep in their sources' folders, which is no source. */
const KEPT = new Set(['dist', 'cache', '.temp']);

/** Of a file, or of a folder and all in it. The times of folders count, which change when a file is added or removed. */
function newestIn(path) {
  if (!existsSync(path) || !statSync(path).isDirectory()) return changedAt(path);
  const below = readdirSync(path)
    .filter((name) => !KEPT.has(name))
    .map((name) => newestIn(join(path, name)));
  return Math.max(changedAt(path), ...below);
}

function changedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}
