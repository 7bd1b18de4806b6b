// The Node that runs Muster where the one on the PATH is too old. The command imports this on any Node from 20 on, so it imports only Node.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram, isProgram, lastLines, runQuietly, SetUpProblem } from './set-up/programs.mjs';

/** The first Node that runs all of our code as it is. */
const NEEDED = [24, 12];
/** The first whose time zone data holds today, for what runs schedules; also in `set-up/provide-node.mjs`. */
const NEEDED_BY_FLEET = [24, 20];
/** Fetched where there is none; as package.json of the repository has it. */
const VERSION = '24.21.0';

/** Whether a Node is new enough for a command, or for what is the fleet itself. */
export function isNewEnough(version, { forFleet = false } = {}) {
  const [neededMajor, neededMinor] = forFleet ? NEEDED_BY_FLEET : NEEDED;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

/** The Node of a clone's own modules, or null. */
export function nodeOfClone(root) {
  const places = [join('.bin', 'node'), join('node', 'bin', 'node')];
  return places.map((place) => join(root, 'node_modules', place)).find(isProgram) ?? null;
}

/** The Node in `.muster/node` of this folder or of one above it, fetched into this folder's where there is none. Throws `SetUpProblem`. */
export async function nodeOfProject(folder) {
  const name = packageName();
  const fileIn = (above) => join(above, '.muster', 'node', 'node_modules', name, 'bin', 'node');
  const found = withParents(folder).map(fileIn).find(isProgram);
  if (found !== undefined) return found;
  const problem = await fetchNode(join(folder, '.muster', 'node'), name);
  if (problem === null) return fileIn(folder);
  throw new SetUpProblem(
    `Muster needs Node ${NEEDED_BY_FLEET.join('.')} or newer, this is ${process.versions.node}, and npm could not fetch a newer one: ` +
      `install Node 24 from https://nodejs.org and try again.\n\n${problem}`,
  );
}

/** npm's package `node` installs one of these by a script, which npm may be configured not to run. */
function packageName() {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${process.platform}-${process.arch}`;
}

function withParents(folder) {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...withParents(above)];
}

/** Null when the Node that it fetched runs, else why not. */
async function fetchNode(folder, name) {
  const npm = findProgram(['npm']);
  if (npm === null) return 'npm is not on the PATH.';
  // On stderr, because the output of the command itself may be read by a program.
  console.error(`muster: fetching Node ${VERSION} into ${folder} (once, about 50 MB) ...`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // npx hands the settings of its own call to what it runs.
  const env = { ...process.env, npm_config_global: 'false' };
  const fetched = await runQuietly([npm, ...args, `${name}@${VERSION}`], { cwd: folder, env });
  if (fetched.code !== 0) return lastLines(fetched.output);
  const file = join(folder, 'node_modules', name, 'bin', 'node');
  const tried = await runQuietly([file, '--version']);
  return tried.code === 0 ? null : `${file} does not run here: ${lastLines(tried.output)}`;
}
