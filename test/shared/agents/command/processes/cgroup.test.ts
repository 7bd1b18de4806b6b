import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AttemptCgroup, describeCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { commandLimitsSchema } from '#shared/config/settings/command-limits.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const folder = await useFolder('muster-cgroup-');

/** A machine gives few tests its controllers, so that their files are plain ones here. */
const read = (name: string, file: string): Promise<string> => readFile(join(folder, `muster-attempt-${name}`, file), 'utf8');

it('a cgroup with controllers bounds memory without swap, and processes, and kills all when memory is short', async () => {
  const limits = commandLimitsSchema.parse({ memoryMb: 512, processes: 64 });
  const cgroup = new AttemptCgroup({ folder, controllers: ['memory', 'pids'] }, 'both', limits);
  expect(cgroup.enforced).toEqual(['memoryMb', 'processes']);
  expect(await read('both', 'memory.max')).toBe(String(512 * 1024 * 1024));
  expect(await read('both', 'memory.swap.max')).toBe('0');
  expect(await read('both', 'memory.oom.group')).toBe('1');
  expect(await read('both', 'pids.max')).toBe('64');
});

it('a cgroup enforces no limit that is none or that it has no controller for', () => {
  const limits = commandLimitsSchema.parse({ memoryMb: 'none', processes: 64 });
  expect(new AttemptCgroup({ folder, controllers: ['memory', 'pids'] }, 'none', limits).enforced).toEqual(['processes']);
  expect(new AttemptCgroup({ folder, controllers: [] }, 'plain', limits).enforced).toEqual([]);
});

it('a cgroup says what it uses, what the kernel refused, and which processes are in it and below it', async () => {
  const cgroup = new AttemptCgroup({ folder, controllers: ['memory', 'pids'] }, 'use', commandLimitsSchema.parse({}));
  expect([cgroup.readUse(), cgroup.readBreach(), cgroup.listPids()]).toEqual([{}, undefined, []]);
  const files = {
    'memory.current': '1048576\n',
    'pids.current': '7\n',
    'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\n',
    'pids.events': 'max 3\n',
    'cgroup.procs': '101\n102\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(cgroup.path, name), text);
  await mkdir(join(cgroup.path, 'below'));
  await writeFile(join(cgroup.path, 'below', 'cgroup.procs'), '103\n');
  expect(cgroup.readUse()).toEqual({ memoryBytes: 1_048_576, tasks: 7, cpuMs: 2500 });
  expect(cgroup.listPids()).toEqual([101, 102, 103]);
  expect(cgroup.readBreach()).toBe('processes');
  await writeFile(join(cgroup.path, 'memory.events'), 'low 0\noom 1\noom_kill 2\noom_group_kill 1\n');
  expect(cgroup.readBreach()).toBe('memoryMb');
});

it('an operator reads why there are no cgroups', () => {
  expect(describeCgroups({ cgroup: 'off', pollMs: 1000 })).toBe(
    'run without cgroups (commands.cgroup is "off"): they are found by what they inherit, and what they use is counted every 1000 ms (commands.pollMs)',
  );
});
