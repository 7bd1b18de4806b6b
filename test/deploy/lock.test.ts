import { describe, expect, it } from 'vitest';
import { read } from './repository.ts';

interface LockEntry {
  version: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockEntry> };
const entries = Object.entries(lock.packages).filter(([path, { link }]) => path !== '' && link !== true);

/** Programs for other systems than Linux on x64 with glibc: where the lock was written they could not be had, nor their digests. */
const isForAnother = ({ optional, os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockEntry): boolean =>
  optional === true && !(os.includes('linux') && cpu.includes('x64') && libc.includes('glibc'));

describe('package-lock.json', () => {
  it('has the digest of every package that is installed on Linux, on x64 with glibc', () => {
    const lacking = entries.filter(([, entry]) => entry.integrity === undefined && !isForAnother(entry));
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  it('names no address to take a package from, so that it is the configured registry that has it', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

it('modules are installed by npm ci alone, which takes what the lock names', () => {
  for (const file of ['services/Dockerfile', 'services/local/set-up/install-modules.mjs']) {
    expect(read(file)).not.toMatch(/npm install|'install'/);
    expect(read(file)).toMatch(/npm ci|'ci'/);
  }
});
