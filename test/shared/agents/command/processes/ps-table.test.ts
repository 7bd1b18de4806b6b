import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { listByPs, readByPs } from '#shared/agents/command/processes/ps-table.ts';
import { readInitialVariable } from '#shared/agents/command/processes/process-table.ts';

it('ps lists processes with their parents, groups, starts and environments, as on systems without /proc', async () => {
  const child = spawn('sleep', ['600'], { env: { MARK: 'a-b-1', OTHER: 'x' }, detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  try {
    const entry = listByPs().find((each) => each.pid === pid);
    expect(entry).toMatchObject({ parent: process.pid, group: pid, command: expect.stringContaining('sleep 600') as string });
    expect(Math.abs(Date.now() - (entry?.startedAt ?? 0))).toBeLessThan(3_600_000);
    expect(entry && readInitialVariable(entry, 'MARK')).toBe('a-b-1');
    expect(entry && readInitialVariable(entry, 'ARK')).toBeUndefined();
    expect(readByPs(pid)).toEqual(entry);
  } finally {
    child.kill('SIGKILL');
  }
  await once(child, 'exit');
  expect(readByPs(pid)).toBeNull();
});
