import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, isProgram, lastLines, runStep, SetUpProblem } from './programs.mjs';

const CACHE = 'node_modules/.cache/promtool';

/** Takes the one program out of Debian's package, which would install and start a service as a whole. */
const FETCH = `
set -e
cd "$1"
apt-get download prometheus || { apt-get update; apt-get download prometheus; }
dpkg --fsys-tarfile prometheus_*.deb | tar -xf - ./usr/bin/promtool
`;

/** Provides promtool, by which tests check boards and rules of alerts. In CI a missing one is an error, so that no test is skipped. */
export async function providePromtool(root) {
  if (findPromtool(root)) return;
  const problem = findProgram(['apt-get']) && findProgram(['dpkg']) ? await fetchPromtool(root) : null;
  if (findPromtool(root)) return;

  const hint = process.platform === 'darwin' ? 'brew install prometheus' : 'install Prometheus';
  const message = `No promtool was found: ${hint}.`;
  if (process.env.CI === 'true') throw new SetUpProblem([message, problem ?? ''].join('\n\n'));
  console.log([`Set-up: ${message} Until then the tests of boards and rules are skipped.`, problem ?? ''].join('\n').trim());
}

/** Finds the promtool for the tests: one on the PATH, else the one that the set-up fetched; or null. */
export function findPromtool(root) {
  const fetched = join(root, CACHE, 'promtool');
  return findProgram(['promtool']) ?? (isProgram(fetched) ? fetched : null);
}

/** Null when it is there, else why not. */
async function fetchPromtool(root) {
  const target = join(root, CACHE);
  mkdirSync(target, { recursive: true });
  const draft = mkdtempSync(join(target, 'draft-'));
  try {
    const { ok, output } = await runStep('fetching promtool (once, 19 MB)', ['sh', '-c', FETCH, 'sh', draft]);
    if (!ok) return lastLines(output);
    renameSync(join(draft, 'usr/bin/promtool'), join(target, 'promtool'));
    return null;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
