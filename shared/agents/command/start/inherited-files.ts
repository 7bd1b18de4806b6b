import { existsSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
/** POSIX has a shell close descriptors up to 9, and some know no others. */
const LAST_OF_SHELLS = 9;
const BASH = '/bin/bash';

/**
 * Descriptors above 2 that this process has from who started it, and that a program would have too. Node marks its own, and those of its parents
 * up to the first gap. None on systems without /proc, where Node passes on none.
 */
export function listInherited(): number[] {
  return descriptors().filter((descriptor) => descriptor > 2 && !isClosedOnExec(descriptor));
}

/** A shell that can close them. By its options bash counts as others do, and reads nothing that BASH_ENV names. */
export function shellFor(inherited: readonly number[]): string[] {
  return inherited.some((descriptor) => descriptor > LAST_OF_SHELLS) && existsSync(BASH) ? [BASH, '--posix', '-p'] : ['/bin/sh'];
}

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+0?(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '';
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The one by which they were listed.
    return true;
  }
}
