// Makes a project of one's own from the template beside this file. `muster init` and the package create-muster-fleet share it; either may run on
// any Node from 20 on, so it imports only Node.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const TEMPLATE = fileURLToPath(new URL('template', import.meta.url));

/** What each file of the template ends with, so that no tool takes it for one of this repository. */
const SUFFIX = '.template';

/** Thrown for what the caller can put right. */
export class ProjectProblem extends Error {}

/**
 * Writes the project. `fleet` is what its package.json asks npm for: a version, or the path of a packed file. `release` is the version of the
 * fleet's image. Returns the files that it wrote. Throws `ProjectProblem` where the folder has something in it.
 */
export function createProject(folder, { fleet, release }) {
  const target = resolve(folder);
  const name = nameOf(target);
  if (existsSync(target) && (!statSync(target).isDirectory() || readdirSync(target).some((entry) => entry !== '.git')))
    throw new ProjectProblem(`expected a new or an empty folder, and ${target} has something in it`);
  const values = { NAME: name, FLEET: specOf(fleet, target), RELEASE: release };
  return filesIn(TEMPLATE).map((file) => {
    const written = file.slice(0, -SUFFIX.length);
    const text = readFileSync(join(TEMPLATE, file), 'utf8').replaceAll(/__([A-Z]+)__/g, (all, word) => values[word] ?? all);
    mkdirSync(dirname(join(target, written)), { recursive: true });
    writeFileSync(join(target, written), text);
    return written;
  });
}

/** As npm takes it for the name of a package, and Docker for that of an image. */
function nameOf(target) {
  const name = basename(target)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (name !== '') return name;
  throw new ProjectProblem(`expected a folder with a letter or a digit in its name, got "${basename(target)}"`);
}

/** A packed file as npm finds it from the project. */
function specOf(fleet, target) {
  if (!/\.(tgz|tar\.gz)$/.test(fleet)) return fleet;
  const file = resolve(fleet.replace(/^file:/, ''));
  if (!existsSync(file)) throw new ProjectProblem(`there is no file at ${file}`);
  return `file:${relative(target, file)}`;
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.name.endsWith(SUFFIX));
  return entries.map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name))).toSorted();
}
