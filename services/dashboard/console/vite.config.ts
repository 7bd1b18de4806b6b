import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, defineConfig, type Plugin } from 'vite';

const TEXT = /\.(?:js|css|svg)$/;

/** Writes each text file in its compressed forms too, for `../console-files.ts`, so that no request compresses. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // Written files are final, while other plugins may still change a bundle.
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

/** Bundles the client for pages of other programs into `client.js` beside the console: one file, which imports nothing. */
function client(): Plugin {
  return {
    name: 'client',
    apply: 'build',
    writeBundle: async ({ dir = '' }) => {
      await build({
        configFile: false,
        logLevel: 'warn',
        plugins: [compressed()],
        build: {
          outDir: dir,
          emptyOutDir: false,
          copyPublicDir: false,
          target: 'es2022',
          modulePreload: false,
          rolldownOptions: {
            input: fileURLToPath(import.meta.resolve('#shared/client/index.ts')),
            preserveEntrySignatures: 'strict',
            output: { entryFileNames: 'client.js', format: 'es' },
          },
        },
      });
    },
  };
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), compressed(), client()],
  // The content policy allows neither data: addresses nor inline scripts.
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // Names what each page loads, for the test that bounds it.
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // These browsers know light-dark(). For older browsers Vite would replace it by variables that ignore our switch.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 1000,
  },
});
