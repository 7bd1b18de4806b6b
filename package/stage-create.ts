import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createManifest, repositoryManifestSchema } from './manifest.ts';

const INIT = 'services/local/init';

/** Makes the folder that `create-muster-fleet` is packed from: the program that `muster init` is too, with its template. Returns the folder. */
export function stageCreate(root: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, INIT), folder, { recursive: true });
  chmodSync(join(folder, 'main.mjs'), 0o755);
  const manifest = repositoryManifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(createManifest(manifest), null, 2)}\n`);
  cpSync(join(root, 'package/create-muster-fleet.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}
