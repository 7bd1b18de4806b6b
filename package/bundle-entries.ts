import { join } from 'node:path';
import { build } from 'rolldown';
import { ENTRIES, fileOfEntry } from './entries.ts';

/** The oldest Node that a project may use the entries on. */
const TARGET = 'node20';

/** Bundles each entry with what it needs of the sources; packages are left to the project's `node_modules`. */
export async function bundleEntries(root: string, folder: string): Promise<void> {
  const input: Record<string, string> = {};
  for (const [path, { source, isBundled }] of Object.entries(ENTRIES)) if (isBundled) input[fileOfEntry(path)] = join(root, source);
  await build({
    input,
    cwd: root,
    external: (id) => !/^[./#]/.test(id),
    platform: 'neutral',
    transform: { target: TARGET },
    // Nothing is done at import, so that what is not used can be left out: whole modules, and packages with them.
    treeshake: { moduleSideEffects: false },
    logLevel: 'warn',
    output: { dir: folder, format: 'esm', sourcemap: true, entryFileNames: '[name].js', chunkFileNames: 'entries/shared/[name]-[hash].js' },
  });
}
