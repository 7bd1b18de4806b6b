import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { findProgram, lastLines, runStep, SetUpProblem } from './programs.mjs';

const NPM_ARGS = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];

/** Installs the packages of package-lock.json, unless node_modules has exactly these. */
export async function installModules(root) {
  if (modulesMatchLock(root)) return;
  const env = { ...process.env, PATH: pathWithoutModules() };
  const npm = findProgram(['npm'], env.PATH);
  if (!npm) throw new SetUpProblem('npm is not on the PATH. Install it with Node from https://nodejs.org, or `apt-get install npm`.');

  const title = existsSync(join(root, 'node_modules')) ? 'bringing node modules up to date' : 'installing node modules';
  // `ci` installs exactly the packages of the lock file.
  const result = await runStep(title, [npm, 'ci', ...NPM_ARGS], { cwd: root, env });
  if (!result.ok) throw new SetUpProblem(`npm could not install the node modules:\n\n${lastLines(result.output)}`);
}

/** Compares the lock file with npm's list of the installed packages. */
export function modulesMatchLock(root) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, entry]) => path === '' || entry.optional || installed[path]?.version === entry.version);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return null;
  }
}

/** npm scripts have node_modules/.bin first, whose Node disappears while the install runs. */
function pathWithoutModules() {
  const bin = `node_modules${sep}.bin`;
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.endsWith(bin))
    .join(delimiter);
}
