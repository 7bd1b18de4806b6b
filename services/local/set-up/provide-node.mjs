import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram, lastLines, runQuietly, runStep, SetUpProblem } from './programs.mjs';

/** The first Node 24 whose time zone data holds today: 2026c, with British Columbia and Alberta as they are since 2026. */
const NEEDED = [24, 20];

/**
 * Makes npm scripts run on Node 24.20 or newer. npm puts node_modules/.bin first in their PATH, where the package `node` installs its
 * program by a script. npm may be configured not to run such scripts.
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

  // The package has no program for this machine. A broken link would hide the Node that runs this script.
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

const OLDEST_NODE = 20;

/** Refuses a machine on which a later step would fail with a less helpful message. */
export function checkMachine(node = process.versions.node, platform = process.platform) {
  if (Number.parseInt(node, 10) < OLDEST_NODE) {
    throw new SetUpProblem(
      `Muster needs Node ${OLDEST_NODE} or newer, and this is ${node}. Install a current one from https://nodejs.org.`,
    );
  }
  if (platform === 'win32') {
    throw new SetUpProblem('Redis does not run on Windows itself. Run Muster inside WSL 2 (https://aka.ms/wsl), or with docker compose.');
  }
}
