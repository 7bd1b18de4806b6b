import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runStep } from './run-step.mjs';
import { SetUpProblem } from './set-up-problem.mjs';

/** Builds the console when it is part of this copy and its sources are newer than the last build. */
export async function buildConsole(root) {
  const folder = join(root, 'services', 'dashboard', 'console');
  if (!existsSync(folder)) return;
  const built = join(folder, 'dist', 'index.html');
  if (existsSync(built) && newestIn(folder) <= statSync(built).mtimeMs) return;

  const vite = join(root, 'node_modules', '.bin', 'vite');
  const result = await runStep('building the console', [vite, 'build'], { cwd: folder });
  if (!result.ok) throw new SetUpProblem(`The console could not be built:\n\n${lastLines(result.output)}`);
}

function newestIn(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'dist' || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestIn(path) : statSync(path).mtimeMs);
  }
  return newest;
}
