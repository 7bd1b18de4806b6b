import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleEntries } from './bundle-entries.ts';
import { writeDeclarations } from './declarations.ts';
import { ENTRIES } from './entries.ts';
import { fleetManifest, repositoryManifestSchema } from './manifest.ts';

const CONSOLE = 'services/dashboard/dist';
const GUIDE = 'services/dashboard/guide/dist';
/** What is read at run time and is no module. */
const FOLDERS = ['services/dashboard/assets', CONSOLE, GUIDE, 'services/local/init/template', 'k8s/base', 'k8s/components'];
const READ = /\.lua$/;
const SOURCES = ['services', 'shared'];

/**
 * Makes the folder that `muster-fleet` is packed from: the sources as JavaScript at the paths that they have here, what they read beside them, the
 * bundled entries, and declarations. Replaces what was there. Resolves with the folder.
 */
export async function stageFleet(root: string, folder: string): Promise<string> {
  for (const built of [CONSOLE, GUIDE]) {
    if (!existsSync(join(root, built, 'index.html')))
      throw new Error(`There is no ${built}/index.html: services/local/set-up.mjs builds it`);
  }
  rmSync(folder, { recursive: true, force: true });
  compile(root, join(root, 'package/tsconfig.json'), folder);
  for (const path of FOLDERS) cpSync(join(root, path), join(folder, path), { recursive: true });
  // Vite's own notes, which nothing here reads.
  rmSync(join(folder, CONSOLE, '.vite'), { recursive: true, force: true });
  for (const path of SOURCES.flatMap((source) => scriptsIn(root, source))) copy(root, folder, path);
  chmodSync(join(folder, 'services/local/muster.mjs'), 0o755);
  await bundleEntries(root, folder);
  compileTypes(root, folder);
  writeDeclarations(folder);
  const manifest = repositoryManifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(fleetManifest(manifest), null, 2)}\n`);
  cpSync(join(root, 'package/muster-fleet.md'), join(folder, 'README.md'));
  for (const path of ['LICENSE', 'CHANGELOG.md']) copy(root, folder, path);
  return folder;
}

function compile(root: string, project: string, folder: string): void {
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', project, '--outDir', folder];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The declarations of the entries and of what they import. */
function compileTypes(root: string, folder: string): void {
  const project = `${folder}.types.json`;
  const files = Object.values(ENTRIES).map(({ source }) => join(root, source));
  writeFileSync(project, JSON.stringify({ extends: join(root, 'package/tsconfig.types.json'), files }));
  compile(root, project, folder);
  rmSync(project);
}

function scriptsIn(root: string, source: string): string[] {
  return readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })
    .filter((path) => READ.test(path))
    .map((path) => join(source, path));
}

function copy(root: string, folder: string, path: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  cpSync(join(root, path), join(folder, path));
}
