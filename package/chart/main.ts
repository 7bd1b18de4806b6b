import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeChart } from './make-chart.ts';

// `npm run chart`: writes the chart of Helm to k8s/chart, by the kubectl on the PATH.
const root = fileURLToPath(new URL('../..', import.meta.url));
const chart = join(root, 'k8s/chart');
const files = makeChart({ root, kubectl: 'kubectl' });
rmSync(chart, { recursive: true, force: true });
for (const [path, text] of files) {
  mkdirSync(dirname(join(chart, path)), { recursive: true });
  writeFileSync(join(chart, path), text);
}
