import { describe, expect, it } from 'vitest';
import { isolatedName, releaseOf, workerName, workerOf } from '#shared/tasks/worker-name.ts';

const nameOf = (release: string): string => workerName({ host: 'my machine', pid: 7, random: 'ab12', release });

describe('the name of a worker', () => {
  it('has its machine, process and release, and the role of a hub', () => {
    expect(nameOf('v1.4.0')).toBe('my-machine-7-ab12@v1.4.0');
    expect(workerName({ host: 'pod', role: 'hub', pid: 1, random: 'ab12', release: '2' })).toBe('pod-hub-1-ab12@2');
  });

  it.each(['v1.4.0', '0.1.0+build.7', 'feature/x@a1b2', 'blue, 2 of 3', '100%', 'a;b{c}"d"\\e', '%E0%A4'])(
    'says the release %s without a separator',
    (release) => {
      expect(nameOf(release)).not.toMatch(/[\s,;/{}"\\]/);
      expect(releaseOf(nameOf(release))).toBe(release);
    },
  );

  it('is found, with its release, in the names of the processes in which its suspects run', () => {
    const worker = nameOf('0.1.0+build.7');
    expect(workerOf(isolatedName(worker, 2))).toBe(worker);
    expect(releaseOf(isolatedName(worker, 2))).toBe('0.1.0+build.7');
  });

  it('says no release where it has none, as of an earlier version', () => {
    expect(releaseOf('my-machine-7-ab12')).toBeNull();
    expect(releaseOf(undefined)).toBeNull();
    expect(releaseOf('somebody@100%')).toBe('100%');
  });
});
