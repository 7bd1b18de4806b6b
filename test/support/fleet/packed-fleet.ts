import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from '../../../package/pack.ts';
import { stageCreate } from '../../../package/stage-create.ts';
import { stageFleet } from '../../../package/stage-fleet.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/packed-fleet');
/** What the package is made of. */
const SOURCES = ['package', 'services', 'shared', 'k8s', 'package.json', 'package-lock.json', 'tsconfig.json', 'CHANGELOG.md'];

/** A folder with `muster-fleet` in its `node_modules`, as an install of the packed file makes it. */
export interface PackedFleet {
  /** Shared by all tests, so that none may write in it. */
  readonly folder: string;
  /** The package itself. */
  readonly package: string;
  /** The packed file. */
  readonly tarball: string;
  /** That of `create-muster-fleet`. */
  readonly create: string;
}

/** Packs the sources as they are, once for all tests: a second call finds what the first made. */
export async function packedFleet(): Promise<PackedFleet> {
  const folder = join(CACHE, digestOf(SOURCES));
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true });
    const draft = mkdtempSync(join(CACHE, 'draft-'));
    await install(draft);
    publish(draft, folder);
  }
  const fileOf = (name: string): string =>
    join(folder, readdirSync(folder).find((file) => file.startsWith(`${name}-`) && file.endsWith('.tgz')) ?? '');
  return {
    folder,
    package: join(folder, 'node_modules/muster-fleet'),
    tarball: fileOf('muster-fleet'),
    create: fileOf('create-muster-fleet'),
  };
}

/** As npm would, but that the dependencies are links: only those that the package names can be found. */
async function install(folder: string): Promise<void> {
  const tarball = pack(await stageFleet(ROOT, join(folder, 'staged')), folder);
  const modules = join(folder, 'node_modules');
  const target = join(modules, 'muster-fleet');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  pack(stageCreate(ROOT, join(folder, 'staged-create')), folder);
  for (const staged of ['staged', 'staged-create']) rmSync(join(folder, staged), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
}

/** Another process may have been faster. Older ones are removed: each has 20 MB. */
function publish(draft: string, folder: string): void {
  const older = readdirSync(CACHE).filter((name) => Date.now() - statSync(join(CACHE, name)).mtimeMs > 3_600_000);
  for (const name of older) rmSync(join(CACHE, name), { recursive: true, force: true });
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
}

/** Of names, sizes and times. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const isFolder = statSync(join(ROOT, path)).isDirectory();
    const inside = isFolder
      ? readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' }).map((below) => join(path, below))
      : [path];
    for (const each of inside.toSorted()) {
      const { size, mtimeMs } = statSync(join(ROOT, each));
      hash.update(`${each} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}
