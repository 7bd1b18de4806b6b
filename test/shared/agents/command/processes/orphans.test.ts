import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { endOrphanedCommands } from '#shared/agents/command/processes/orphans.ts';
import { isProcessGone } from '../../../../support/agents/agent-process.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';
import { waitFor } from '../../../../support/wait-for.ts';

const folder = await useFolder('muster-orphans-');

/** A worker that starts a program under a mark of its fleet, in a folder of its own, and writes the pid of that. */
const WORKER = `
import { spawn } from 'node:child_process';
import { openAttemptFolder } from '#shared/agents/command/folder/attempt-folder.ts';
import { createMark, MARK_VARIABLE } from '#shared/agents/command/processes/attempt-mark.ts';

const [, fleet, folder] = process.argv;
const mark = createMark(fleet);
const { work } = await openAttemptFolder(mark, null, folder);
const child = spawn('sleep', ['600'], { cwd: work, env: { [MARK_VARIABLE]: mark }, detached: true, stdio: 'ignore' });
console.log(child.pid);
setInterval(() => undefined, 1000);
`;

/** The pid of a program that a killed worker of this fleet has left. */
async function leaveOrphan(fleet: string, program = WORKER): Promise<number> {
  const worker = spawn(process.execPath, ['--input-type=module', '-e', program, fleet, folder], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(worker, 'close');
  const [line] = (await once(createInterface(worker.stdout), 'line')) as [string];
  worker.kill('SIGKILL');
  await exited;
  return Number(line);
}

const foldersOf = async (fleet: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith(`muster-attempt-${fleet}-`));

const cgroups = openCgroups('auto');

/** A worker that starts a program in a cgroup, where it clears its environment and leaves the folder. */
const WORKER_WITH_CGROUP = `
import { spawn } from 'node:child_process';
import { AttemptCgroup, openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { createMark } from '#shared/agents/command/processes/attempt-mark.ts';

const [, fleet] = process.argv;
const limits = { memoryMb: 'none', processes: 'none', openFiles: 'none', fileMb: 'none', cpuSeconds: 'none' };
const cgroup = new AttemptCgroup(openCgroups('auto'), createMark(fleet), limits);
const child = spawn('sleep', ['600'], { cwd: '/', env: {}, detached: true, stdio: 'ignore' });
cgroup.add(child.pid);
console.log(child.pid);
setInterval(() => undefined, 1000);
`;

it.runIf('folder' in cgroups)(
  'a fleet ends what is in the cgroups of its killed workers, though nothing else says whose it is',
  async () => {
    const orphan = await leaveOrphan('cc', WORKER_WITH_CGROUP);
    expect(await endOrphanedCommands('cc', { folder, cgroup: 'off' })).toBe(0);
    expect(isProcessGone(orphan)).toBe(false);
    expect(await endOrphanedCommands('cc', { folder, cgroup: 'auto' })).toBe(1);
    expect(isProcessGone(orphan)).toBe(true);
    const left = 'folder' in cgroups ? await readdir(cgroups.folder) : [];
    expect(left.filter((name) => name.startsWith('muster-attempt-cc-'))).toEqual([]);
  },
);

it('a fleet ends what its own killed workers left, and nothing of another fleet on the same machine', async () => {
  const [own, other] = await Promise.all([leaveOrphan('aa'), leaveOrphan('bb')]);
  try {
    expect(await endOrphanedCommands('aa', { folder, cgroup: 'off' })).toBe(1);
    await waitFor(() => isProcessGone(own), { deadlineMs: 5000, what: 'its own orphan to be gone' });
    expect(isProcessGone(other)).toBe(false);
    expect([(await foldersOf('aa')).length, (await foldersOf('bb')).length]).toEqual([0, 1]);
  } finally {
    expect(await endOrphanedCommands('bb', { folder, cgroup: 'off' })).toBe(1);
  }
  await waitFor(() => isProcessGone(other), { deadlineMs: 5000, what: 'the orphan of the other fleet to be gone' });
  expect(await readdir(folder)).toEqual([]);
});
