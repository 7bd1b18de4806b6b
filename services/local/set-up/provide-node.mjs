import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram } from './find-program.mjs';
import { lastLines, runQuietly, runStep } from './run-step.mjs';
import { SetUpProblem } from './set-up-problem.mjs';

/** The first Node 24 that runs all of our TypeScript as it is. */
const NEEDED = [24, 12];

/**
 * Makes sure that npm scripts run on Node 24.12 or newer. npm puts node_modules/.bin first in their PATH, where the
 * package `node` puts its program by an install script, which npm may have been told not to run.
 */
export async function provideNode(root) {
  const link = join(root, 'node_modules', '.bin', 'node');
  if (await isNewEnough(link)) return;

  const folder = join(root, 'node_modules', 'node');
  const result = await runStep('fetching Node 24', [process.execPath, 'installArchSpecificPackage.js'], { cwd: folder });
  if (isProgram(join(folder, 'bin', 'node'))) {
    mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
    rmSync(link, { force: true });
    symlinkSync('../node/bin/node', link);
  }
  if (await isNewEnough(link)) return;

  // There is none for this kind of machine. It must not stand in the way of the one that runs us.
  rmSync(link, { force: true });
  if (isAtLeastNeeded(process.versions.node)) return;
  throw new SetUpProblem(
    `Muster needs Node ${NEEDED.join('.')} or newer, and npm's package "node" has none that runs here.\n` +
      `Install Node 24 from https://nodejs.org and try again.\n\n${lastLines(result.output)}`,
  );
}

async function isNewEnough(program) {
  if (!isProgram(program)) return false;
  const { code, output } = await runQuietly([program, '--version']);
  return code === 0 && isAtLeastNeeded(output.trim().replace(/^v/, ''));
}

export function isAtLeastNeeded(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}
