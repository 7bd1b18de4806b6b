import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const TEXT = /\.(?:js|css|svg)$/;

/** Writes each text again beside itself, as small as it gets, for `../compressed-files.ts`: once, and not while somebody waits. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // What is written is final; a bundle may still be changed by the plugins of others.
    writeBundle: async ({ dir = '' }, bundle) => {
      for (const name of Object.keys(bundle).filter((each) => TEXT.test(each))) {
        const file = join(dir, name);
        const text = await readFile(file);
        await writeFile(
          `${file}.br`,
          await promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
        );
        await writeFile(`${file}.gz`, await promisify(gzip)(text, { level: constants.Z_BEST_COMPRESSION }));
      }
    },
  };
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), compressed()],
  // Its scripts and styles come from files: the content policy allows neither data: addresses nor scripts in the page.
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // All have light-dark(), which would otherwise be rewritten into variables that follow another switch than ours.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 1000,
  },
});
