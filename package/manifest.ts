import { z } from 'zod';
import { ENTRIES, fileOfEntry } from './entries.ts';

/** What the packages take over from the repository's own manifest. */
export const repositoryManifestSchema = z.object({
  version: z.string(),
  license: z.string(),
  description: z.string(),
  dependencies: z.record(z.string(), z.string()),
});
type RepositoryManifest = z.infer<typeof repositoryManifestSchema>;

/** The `package.json` of `muster-fleet`. It has no scripts, so that an install runs nothing. */
export function fleetManifest({ version, license, description, dependencies }: RepositoryManifest): object {
  return {
    name: 'muster-fleet',
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=20' },
    bin: { muster: 'services/local/muster.mjs' },
    // A literal pattern with the extension: the sources name their modules with `.ts`.
    imports: { '#shared/*.ts': './shared/*.js', '#daemon': './shared/daemons/client/index.js' },
    exports: { ...exportsOf(), './package.json': './package.json' },
    sideEffects: false,
    dependencies,
    peerDependencies: { '@types/node': '>=20' },
    peerDependenciesMeta: { '@types/node': { optional: true } },
  };
}

/** The `package.json` of `create-muster-fleet`, which has no dependencies. */
export function createManifest({ version, license }: RepositoryManifest): object {
  return {
    name: 'create-muster-fleet',
    version,
    description: 'Makes a project with an agent, its test, and a fleet to run it on.',
    license,
    type: 'module',
    engines: { node: '>=20' },
    bin: { 'create-muster-fleet': 'main.mjs' },
  };
}

function exportsOf(): object {
  const exported: Record<string, object> = {};
  for (const [path, { source }] of Object.entries(ENTRIES)) {
    exported[path] = { types: `./${source.replace(/\.ts$/, '.d.ts')}`, default: `./${fileOfEntry(path)}.js` };
  }
  return exported;
}
