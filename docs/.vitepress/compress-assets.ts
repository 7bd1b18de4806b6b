import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { SiteConfig } from 'vitepress';

const TEXT = /\.(?:js|css|svg)$/;

/** Writes each text among the assets compressed too, for the dashboard, which compresses nothing itself. */
export async function compressAssets({ outDir, assetsDir }: SiteConfig): Promise<void> {
  const names = await readdir(join(outDir, assetsDir), { recursive: true });
  for (const name of names.filter((each) => TEXT.test(each))) {
    const file = join(outDir, assetsDir, name);
    // Brotli would take as long as all the rest of the build.
    await writeFile(`${file}.gz`, await promisify(gzip)(await readFile(file), { level: constants.Z_BEST_COMPRESSION }));
  }
}
