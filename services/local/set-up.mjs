// Provides what `npm start` and `npm test` need. It runs before anything is installed, on any Node from 20 on,
// so it and the files of set-up/ import only modules of Node. A second run does nothing.
import { fileURLToPath } from 'node:url';
import { checkMachine, provideNode } from './set-up/provide-node.mjs';
import { buildConsole, buildGuide } from './set-up/build-pages.mjs';
import { installModules } from './set-up/install-modules.mjs';
import { provideChromium } from './set-up/provide-chromium.mjs';
import { provideKubernetes } from './set-up/provide-kubernetes.mjs';
import { providePromtool } from './set-up/provide-promtool.mjs';
import { providePython } from './set-up/provide-python.mjs';
import { provideRedis } from './set-up/provide-redis.mjs';
import { SetUpProblem } from './set-up/programs.mjs';

const startedAt = performance.now();
const root = fileURLToPath(new URL('../..', import.meta.url));
const forTests = process.argv.includes('--for-tests');

try {
  checkMachine();
  await installModules(root);
  await provideNode(root);
  await Promise.all([buildConsole(root), buildGuide(root)]);
  await provideRedis({ forTests });
  if (forTests) await provideChromium();
  if (forTests) await providePython();
  if (forTests) await Promise.all([provideKubernetes(root), providePromtool(root)]);
  console.log(`Set-up: all there (${((performance.now() - startedAt) / 1000).toFixed(1)} s).`);
} catch (error) {
  if (!(error instanceof SetUpProblem)) throw error;
  console.error(`\nSet-up: ${error.message}\n`);
  process.exitCode = 1;
}
