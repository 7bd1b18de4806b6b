import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runStep, SetUpProblem } from './programs.mjs';

/** Builds the console when its sources are here and newer than the last build. */
export async function buildConsole(root) {
  const dashboard = join(root, 'services', 'dashboard');
  const sources = join(dashboard, 'console');
  if (!existsSync(sources)) return;
  const built = join(dashboard, 'dist');
  const page = join(built, 'index.html');
  // New libraries require a new build, too.
  const modules = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(page) && Math.max(newestIn(sources), changedAt(modules)) <= changedAt(page)) return;

  // A build that was killed leaves half a draft and never half a console.
  const draft = join(dashboard, 'dist.draft');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const result = await runStep('building the console', [nodeOf(root), vite, 'build', sources, '--outDir', draft, '--emptyOutDir'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (!result.ok) throw new SetUpProblem(`The console could not be built:\n\n${lastLines(result.output)}`);
  rmSync(built, { recursive: true, force: true });
  renameSync(draft, built);
}

/** The provided Node, because the Node that runs this script may be too old for Vite. */
function nodeOf(root) {
  const provided = join(root, 'node_modules', '.bin', 'node');
  return existsSync(provided) ? provided : process.execPath;
}

/** Includes the folders, whose times change when a file is added or removed. */
function newestIn(folder) {
  const below = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? newestIn(path) : changedAt(path);
  });
  return Math.max(changedAt(folder), ...below);
}

function changedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}
