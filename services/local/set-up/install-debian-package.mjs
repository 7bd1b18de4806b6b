import { findProgram } from './find-program.mjs';
import { runQuietly, runStep } from './run-step.mjs';

/**
 * A policy-rc.d that refuses keeps the package from starting a service, which would use a port and memory. An existing one
 * belongs to the owner of the machine and stays.
 */
const INSTALL = `
set -e
if [ ! -e /usr/sbin/policy-rc.d ]; then
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
fi
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

/** What to put before a command to run it as root: nothing, sudo, or null when neither works without a password. */
async function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram(['sudo']);
  if (!sudo) return null;
  const { code } = await runQuietly([sudo, '-n', 'true']);
  return code === 0 ? [sudo, '-n'] : null;
}
