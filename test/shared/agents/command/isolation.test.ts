import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { trackCommands } from '#shared/agents/command/processes/attempt-processes.ts';
import { openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { readVariables } from '#shared/agents/command/start/command-environment.ts';
import { openUserSource } from '#shared/agents/command/users/attempt-users.ts';
import { commandUsers } from '#shared/agents/command/users/command-user.ts';
import { runCommand } from '#shared/agents/command/run-command.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import type { AgentResult } from '#shared/config/define-config.ts';
import { isProcessGone } from '../../../support/agents/agent-process.ts';
import { failureOf, type ObservedRun, observeRun } from '../../../support/agents/agent-run.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { useFolder } from '../../../support/use-folder.ts';

const directory = await useFolder('muster-isolation-');

type Definition = DefinitionOf<'command'>;
type Settings = z.input<typeof commandSettingsSchema>;

const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 65_534, gid: 65_534 } : null;

function attempt({ run }: ObservedRun<Definition>, given: Settings = {}): Promise<AgentResult> {
  const settings = commandSettingsSchema.parse({ killGraceMs: 100, pollMs: 50, ...given });
  return runCommand(run, {
    directory,
    variables: readVariables(run.definition, (name) => childEnvironment()[name]),
    running: trackCommands(settings.pollMs),
    fleetId: () => Promise.resolve('f'),
    settings,
    cgroups: openCgroups(settings.cgroup),
    users: openUserSource(commandUsers(settings)),
    turn: null,
  });
}

function shell(program: string, definition: Partial<Definition> = {}): ObservedRun<Definition> {
  return observeRun<'command'>({ kind: 'command', command: ['sh', '-c', program], ...definition });
}

const node = (program: string, definition: Partial<Definition> = {}): ObservedRun<Definition> =>
  observeRun<'command'>({ kind: 'command', command: [process.execPath, '-e', program], ...definition });

const cgroups = openCgroups('auto');
const hasCgroups = 'folder' in cgroups;
const PLACES = ['off', ...(hasCgroups ? (['auto'] as const) : [])] as const;

/** Forks twice, as daemons do: it has a session of its own, no parent in the attempt, and another folder. */
const DAEMON = '(setsid sh -c \'cd /; echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 600\' "$PWD/daemon" < /dev/null > /dev/null 2>&1 &)';

describe.each(PLACES)('an attempt with cgroup %s', (cgroup) => {
  it('ends a daemon that forked twice, and what ran under nohup and setsid', async () => {
    const program = `${DAEMON}; while [ ! -e daemon ]; do sleep 0.01; done; cat daemon;
      nohup sleep 600 > /dev/null 2>&1 & echo $!; setsid nohup sleep 600 > /dev/null 2>&1 & echo $!`;
    const observed = shell(program);
    expect(await attempt(observed, { cgroup })).toEqual({});
    const pids = observed.written.join('').trim().split('\n').map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.map(isProcessGone)).toEqual([true, true, true]);
  });

  it('is ended once its processes use more memory than it may, though each uses less', async () => {
    const hog = 'const kept = Buffer.alloc(60e6, 1); setInterval(() => kept.length, 1000)';
    const program = `for n in 1 2 3 4; do "$NODE" -e "$HOG" & done; wait`;
    const observed = shell(program, { env: { NODE: process.execPath, HOG: hog }, limits: { memoryMb: 256 } });
    expect(await failureOf(attempt(observed, { cgroup }))).toMatchObject({
      code: 'COMMAND_FAILED',
      message: '"sh" may use 256 MiB of memory (limits.memoryMb), and wanted more',
      details: { limit: 'memoryMb', allowed: 256 },
    });
  });

  it('is ended once it has more processes than it may', async () => {
    const observed = shell('n=0; while [ $n -lt 40 ]; do sleep 600 & n=$((n + 1)); done; wait');
    const failure = await failureOf(attempt(observed, { cgroup, limits: { processes: 20 } }));
    expect(failure.details).toEqual({ limit: 'processes', allowed: 20 });
  });

  it('is ended once all its processes have used the processor for too long', async () => {
    const observed = shell('for n in 1 2 3; do while :; do :; done & done; wait', { limits: { cpuSeconds: 1 } });
    const failure = await failureOf(attempt(observed, { cgroup }));
    expect(failure.details).toEqual({ limit: 'cpuSeconds', allowed: 1 });
  });

  it('writes no file that is larger, and opens no more files, than it may', async () => {
    const large = node("require('node:fs').writeFileSync('large', Buffer.alloc(3e6))", { limits: { fileMb: 2 } });
    const failure = await failureOf(attempt(large, { cgroup }));
    expect(failure.details?.['limit'] ?? large.diagnostics.stderr).toMatch(/^fileMb$|EFBIG/);
    const open = shell('ulimit -n; ulimit -c; ulimit -f', { limits: { openFiles: 64 } });
    await attempt(open, { cgroup });
    expect(open.written.join('')).toBe('64\n0\n8388608\n');
  });

  it('is refused no memory that it only reserves', async () => {
    const observed = node('console.log(new WebAssembly.Memory({ initial: 1, maximum: 65536 }).buffer.byteLength)');
    expect(await attempt(observed, { cgroup, limits: { memoryMb: 512 } })).toEqual({});
    expect(observed.written.join('')).toBe('65536\n');
  });
});

describe('a command without limits', () => {
  it('is started by itself', async () => {
    const none = { memoryMb: 'none', processes: 'none', openFiles: 'none', fileMb: 'none', cpuSeconds: 'none' } as const;
    const observed = shell('cat /proc/$$/cmdline | tr "\\0" " "; ulimit -f');
    await attempt(observed, { cgroup: 'off', limits: none });
    expect(observed.written.join('')).toContain('unlimited');
  });
});

describe.runIf(hasCgroups)('the cgroup of an attempt', () => {
  it('has all that it starts, and is gone afterwards', async () => {
    const observed = shell('setsid sh -c "cat /proc/self/cgroup" | grep ^0::');
    await attempt(observed);
    const path = observed.written.join('').trim().slice('0::'.length);
    expect(path).toMatch(/\/muster-attempt-f-/);
    const name = path.slice(path.lastIndexOf('/') + 1);
    expect('folder' in cgroups && existsSync(join(cgroups.folder, name))).toBe(false);
  });

  it('ends what cleared its environment, left every folder and session and lost its parent before a poll could see it', async () => {
    const observed = shell(
      `(cd /; env -i setsid sh -c 'sleep 600 > /dev/null 2>&1 & echo $! >&3' 3>&1 > /dev/null 2>&1 < /dev/null) ; sleep 0.1`,
    );
    await attempt(observed, { pollMs: 60_000 });
    const pid = Number(observed.written.join('').trim());
    expect(pid).toBeGreaterThan(1);
    expect(isProcessGone(pid)).toBe(true);
  });
});

describe('a place for cgroups', () => {
  it('is none where it is switched off, is no cgroup, or may not be written', () => {
    expect(openCgroups('off')).toEqual({ problem: 'commands.cgroup is "off"' });
    expect(openCgroups('/nowhere/at/all')).toMatchObject({ problem: expect.stringContaining('ENOENT') as string });
    expect(openCgroups(directory)).toMatchObject({ problem: expect.stringContaining('cannot kill a cgroup') as string });
    expect(existsSync(join(directory, `muster-attempt-probe-${process.pid}`))).toBe(false);
  });
});

const NAMESPACES = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Some machines refuse namespaces to their users. */
function works(file: string, ...args: string[]): boolean {
  return spawnSync(file, [...args, 'true'], user ?? {}).status === 0;
}

describe('a sandbox', () => {
  it('is started in front of the program, with the folders and variables of the attempt filled in', async () => {
    const sandbox = [
      'sh',
      '-c',
      'printf "%s\\n" "$@"; shift 4; shift $(($# - 3)); exec "$@"',
      '{dir}',
      '{work}',
      '{cwd}',
      '{name}',
      '-e{variable}',
    ];
    const observed = shell('pwd', { sandbox });
    await attempt(observed);
    const [work = '', cwd, name, ...rest] = observed.written.join('').trim().split('\n');
    expect(rest.at(-1)).toBe(work);
    expect(cwd).toBe(work);
    expect(name).toMatch(/^muster-f-/);
    expect(rest).toEqual(expect.arrayContaining(['-ePATH', '-eHOME', '-eMUSTER_TASK_ID']));
  });

  it('has its own end, which runs after each attempt', async () => {
    const file = join(directory, 'ended');
    const sandboxEnd = ['sh', '-c', 'echo "$1" > "$0"', file, '{name}'];
    const observed = shell('echo "$MUSTER_ATTEMPT_MARK"; exit 3', { sandbox: ['env'] });
    await failureOf(attempt(observed, { sandboxEnd }));
    expect((await readFile(file, 'utf8')).trim()).toBe(`muster-${observed.written.join('').trim()}`);
  });

  it.runIf(works('unshare', ...NAMESPACES))(
    'may be namespaces: what it starts sees no process of the machine, and ends with it',
    async () => {
      const sandbox = ['unshare', ...NAMESPACES];
      const observed = shell('echo $$; ls /proc | grep -c "^[0-9]"', { sandbox });
      await attempt(observed, { cgroup: 'off' });
      const [pid, count] = observed.written.join('').trim().split('\n');
      expect(pid).toBe('1');
      expect(Number(count)).toBeLessThan(6);
    },
  );

  it.runIf(works('bwrap', '--unshare-pid', '--ro-bind', '/', '/'))(
    'may be bubblewrap: the machine is read-only, its own folder is not',
    async () => {
      const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', '{dir}', '{dir}', '--chdir', '{cwd}'];
      const sandbox = ['bwrap', '--die-with-parent', '--unshare-pid', ...mounts, '--'];
      const observed = shell('touch here "$HOME/there" && echo wrote; touch /var/tmp/muster-probe 2>&1 | tail -c 22', { sandbox });
      await attempt(observed);
      expect(observed.written.join('')).toBe('wrote\nRead-only file system\n');
    },
  );

  it('is found out about before it starts', async () => {
    const observed = shell('true', { sandbox: ['no-such-sandbox'] });
    expect(await failureOf(attempt(observed))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      message: '"no-such-sandbox" could not be started: ENOENT',
    });
  });
});
