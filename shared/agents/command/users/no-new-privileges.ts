import { existsSync } from 'node:fs';

const PROGRAMS = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'];

/**
 * Words in front of a program, by which no file makes it another user: what an attempt leaves on the machine with the bit for that would make
 * a later one its user. None where the system has no `setpriv`.
 */
export function noNewPrivileges(): string[] {
  const program = PROGRAMS.find((path) => existsSync(path));
  return program === undefined ? [] : [program, '--no-new-privs'];
}
