import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRESS_MS = 10_000;
const TAIL_LINES = 25;

/**
 * Runs a program under a title, prints progress every ten seconds, and keeps its output for the case that it fails.
 * Returns `{ ok, output }`; a program that cannot be started counts as failed.
 */
export async function runStep(title, [program, ...args], { cwd, env = process.env } = {}) {
  const startedAt = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  console.log(`Set-up: ${title} ...`);
  const timer = setInterval(() => console.log(`Set-up: ${title} ... ${seconds()}`), PROGRESS_MS);
  const { code, output } = await runQuietly([program, ...args], { cwd, env });
  clearInterval(timer);
  console.log(`Set-up: ${title}: ${code === 0 ? 'done' : `failed with code ${code}`} (${seconds()})`);
  return { ok: code === 0, output };
}

/** The last lines of an output, where most programs explain why they failed. */
export function lastLines(output) {
  return output.trim().split('\n').slice(-TAIL_LINES).join('\n');
}

/** Runs a program silently. Returns its exit code (127 when it cannot be started) and its output. */
export function runQuietly([program, ...args], { cwd, env = process.env } = {}) {
  return new Promise((resolve) => {
    // No stdin: a package manager that asks a question must fail instead of waiting for an answer.
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

/** A problem that only a person can solve; the message explains how. */
export class SetUpProblem extends Error {}

/** The full path of the first of these programs that is on the PATH, or null. */
export function findProgram(names, path = process.env.PATH ?? '') {
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder || '.', name);
      if (isProgram(file)) return file;
    }
  }
  return null;
}

/** Whether this file can be run. */
export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

const OWN_POLICY = 'Made by the set-up of Muster, and removed when it ends.';

/**
 * A policy-rc.d that refuses keeps the package from starting a service, which would use a port and memory. An existing one
 * belongs to the owner of the machine and stays, unless a killed set-up left it. That may have left half a package, too.
 */
const INSTALL = `
set -e
if [ ! -e /usr/sbin/policy-rc.d ] || grep -q "${OWN_POLICY}" /usr/sbin/policy-rc.d; then
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\n# ${OWN_POLICY}\\nexit 101\\n' > /usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
fi
DEBIAN_FRONTEND=noninteractive dpkg --configure -a || true
install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$1"
}
# The package lists are updated only when they are missing or too old.
if ! install "$1"; then
  apt-get update
  install "$1"
fi
`;

/** Whether packages can be installed here without a password. */
export async function canInstallDebianPackages() {
  return findProgram(['apt-get']) !== null && (await rootPrefix()) !== null;
}

/** Installs one package, without its recommendations and without starting a service. Returns `{ ok, output }`. */
export async function installDebianPackage(name) {
  const prefix = (await rootPrefix()) ?? [];
  return runStep(`installing the Debian package ${name}`, [...prefix, 'sh', '-c', INSTALL, 'sh', name]);
}

/** The prefix that runs a command as root: nothing, sudo, or null when neither works without a password. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram(['sudo']);
  if (!sudo) return null;
  const { code } = await runQuietly([sudo, '-n', 'true']);
  return code === 0 ? [sudo, '-n'] : null;
}
