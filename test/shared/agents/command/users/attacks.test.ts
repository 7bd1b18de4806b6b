import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { createMark } from '#shared/agents/command/processes/attempt-mark.ts';
import { openUserSource } from '#shared/agents/command/users/attempt-users.ts';
import { openCommandRunner } from '#shared/agents/index.ts';
import { type CommandSettings, commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { type ObservedRun, observeRun } from '../../../../support/agents/agent-run.ts';
import { textOf } from '../../../../support/agents/output-text.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-attacks-');
const folder = join(directory, 'attempts');
const secrets = join(directory, 'secrets');
await chmod(directory, 0o711);
await mkdir(folder, { mode: 0o755 });
await mkdir(secrets, { mode: 0o700 });

const isRoot = process.getuid?.() === 0;

type Given = z.input<typeof commandSettingsSchema>;

function open(given: Given = {}, onTurn: (tenant: string) => void = () => undefined): ReturnType<typeof openCommandRunner> {
  const commands: CommandSettings = commandSettingsSchema.parse({ killGraceMs: 100, pollMs: 50, folder, ...given });
  return openCommandRunner({
    directory,
    readSecret: (name) => childEnvironment()[name],
    fleetId: () => Promise.resolve('f'),
    commands,
    onTurn,
  });
}

const run = open();

interface Kept {
  readonly kept: Record<string, string>;
  readonly ended: Promise<unknown>;
  readonly text: () => string;
  readonly firstWrite: Promise<string>;
  readonly abort: () => void;
}

interface Started extends Partial<DefinitionOf<'command'>> {
  readonly tenant?: string;
  readonly bringIn?: (into: string) => Promise<void>;
}

/** Runs a program as an attempt; `kept` has the text of the artifacts once it has ended. */
function start(program: string, options: Started = {}, by = run): Kept {
  const { tenant = 'default', bringIn = () => Promise.resolve(), ...definition } = options;
  const observed: ObservedRun<DefinitionOf<'command'>> = observeRun<'command'>(
    { kind: 'command', command: ['sh', '-c', program], ...definition },
    { task: { tenant } },
  );
  const kept: Record<string, string> = {};
  const ended = by({
    ...observed.run,
    files: {
      bringIn,
      takeOut: async ({ files }) => {
        for (const file of files) kept[file.name] = await textOf(file);
      },
    },
  });
  return {
    kept,
    ended,
    text: () => observed.written.join(''),
    firstWrite: observed.firstWrite,
    abort: () => observed.abort(new Error('seen enough')),
  };
}

/** Puts links to a folder in the place of those of every other attempt, and writes a dot each time it has been through all of them. */
const swapOthers = (target: string): string => `
  own=$(dirname "$PWD")
  while :; do
    for each in ${folder}/muster-attempt-*; do
      [ "$each" = "$own" ] && continue
      for part in work/in work/out home; do rm -rf $each/$part; ln -sfn ${target} $each/$part; done
    done 2> /dev/null
    printf .
  done`;

describe.runIf(isRoot)('a program of a worker that is root', () => {
  it('has a user and a group that no other has at that time, and no other groups or privileges to gain', async () => {
    const program = 'id -u; id -g; id -G; grep -c "NoNewPrivs:.1" /proc/self/status; read -r wait';
    const both = [start(program, { takesInput: true }), start(program, { takesInput: true })];
    await Promise.all(both.map(({ firstWrite }) => firstWrite));
    await Promise.all(both.map(({ ended }) => ended.catch(() => undefined)));
    const users = both.map(({ text }) => text().trim().split('\n'));
    for (const [uid, ...others] of users) expect(others).toEqual([uid, uid, '1']);
    expect(users[0]?.[0]).not.toBe(users[1]?.[0]);
  });

  it('cannot have a file of root’s read, written, given away or removed by what it puts in the place of another’s folders', async () => {
    const target = join(secrets, 'target');
    await mkdir(target);
    await writeFile(join(target, 'key'), 'admin-key');
    const attacker = start(swapOthers(target));
    const isThrough = async (): Promise<void> => {
      const before = attacker.text().length;
      await waitFor(() => attacker.text().length > before + 2, { deadlineMs: 20_000, what: 'the attacker to have been at all folders' });
    };
    const victim = start('cat in/task.txt; echo hers > out/result; mkdir "$HOME/cache"; read -r wait', {
      tenant: 'other',
      takesInput: true,
      inputIdleMs: 300,
      bringIn: async (into) => {
        await isThrough();
        await writeFile(join(into, 'task.txt'), 'of the task');
        await isThrough();
      },
    });
    await victim.ended.catch(() => undefined);
    attacker.abort();
    await attacker.ended.catch(() => undefined);
    const { uid } = await stat(join(target, 'key'));
    expect([await readdir(target), await readFile(join(target, 'key'), 'utf8'), uid]).toEqual([['key'], 'admin-key', 0]);
    expect([victim.text(), victim.kept]).toEqual(['of the task', { result: 'hers\n' }]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('gets its files and its prompt, which it may change, in a folder that it cannot reach before', async () => {
    let mode = 0;
    const { kept, ended, text } = start('cat "$1"; cat in/task.txt; echo more >> in/task.txt; cp in/task.txt out/copy', {
      command: ['sh', '-c', 'cat "$0"; echo more >> in/task.txt; cp in/task.txt out/copy', '{promptFile}'],
      bringIn: async (into) => {
        mode = (await stat(join(into, '..', '..'))).mode;
        await writeFile(join(into, 'task.txt'), 'of the task\n', { mode: 0o600 });
      },
    });
    await ended;
    expect(mode & 0o777).toBe(0o700);
    expect(text()).not.toBe('');
    expect(kept).toEqual({ copy: 'of the task\nmore\n' });
  });

  it('works where its user may not enter the folder that all of them lie in', async () => {
    const closed = join(directory, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const { kept, ended } = start('echo here > out/file', {}, open({ folder: closed }));
    await ended;
    expect(kept).toEqual({ file: 'here\n' });
    expect(await readdir(closed)).toEqual([]);
  });

  it('starts in a folder that its user cannot reach, as a clone below /root, what lies in that', async () => {
    const project = join(secrets, 'project');
    await mkdir(join(project, 'bin'), { recursive: true });
    await writeFile(join(project, 'bin/run'), '#!/bin/sh\ncat text; cat', { mode: 0o755 });
    await writeFile(join(project, 'text'), 'of the project ');
    const { ended, text } = start('', { command: ['bin/run'], cwd: project });
    await ended;
    expect(text()).toMatch(/^of the project ./);
  });

  it('cannot read, change, fill or end what another attempt has', async () => {
    const gate = join(directory, 'gate');
    await writeFile(gate, '', { mode: 0o666 });
    await chmod(gate, 0o666);
    const victim = start(
      `echo mine > "$HOME/session"; echo "$$ $PWD $HOME"; while [ ! -s ${gate} ]; do sleep 0.02; done; echo done > out/result`,
      {
        env: { SECRET: 'of-the-victim' },
      },
    );
    const [pid = '', work = '', home = ''] = (await victim.firstWrite).trim().split(' ');
    const attacker = start(
      `cat ${home}/session /proc/${pid}/environ; ls ${work}; readlink /proc/${pid}/cwd; echo planted > ${work}/out/planted; kill -9 ${pid}; kill -9 -1; cat /proc/*/environ | tr -d '\\0' | grep -o of-the-victim; true`,
      { tenant: 'other' },
    );
    await attacker.ended.catch(() => undefined);
    await writeFile(gate, 'go');
    await victim.ended;
    expect(attacker.text()).toBe('');
    expect(victim.kept).toEqual({ result: 'done\n' });
  });

  it('leaves no process of its user, though it left session, environment, folder and parent at once', async () => {
    const program = `(cd /; env -i setsid sh -c 'sleep 600 > /dev/null 2>&1 & echo $! >&3' 3>&1 > /dev/null 2>&1 < /dev/null); sleep 0.1`;
    const { ended, text } = start(program, {}, open({ cgroup: 'off', pollMs: 60_000 }));
    await ended;
    const left = await readFile(`/proc/${text().trim()}/status`, 'utf8').catch(() => 'gone');
    expect(left === 'gone' || /^State:\s+Z/m.test(left)).toBe(true);
  });
});

const WORKER = `
import { createMark } from '#shared/agents/command/processes/attempt-mark.ts';
import { openUserSource } from '#shared/agents/command/users/attempt-users.ts';
import { openCommandRunner } from '#shared/agents/index.ts';
import { commandSettingsSchema } from '#shared/config/index.ts';
import { observeRun } from './test/support/agents/agent-run.ts';
import { childEnvironment } from './test/support/test-environment.ts';

const [, folder, command, users] = process.argv;
const commands = commandSettingsSchema.parse({ folder, users: JSON.parse(users) ?? undefined });
const run = openCommandRunner({ directory: folder, readSecret: (name) => childEnvironment()[name], fleetId: async () => 'f', commands });
const observed = observeRun({ kind: 'command', command: ['sh', '-c', command] });
const ended = run(observed.run);
console.log(JSON.stringify(await observed.firstWrite));
await ended.catch((error) => console.log(error.message));
`;

interface WorkerOptions {
  readonly uid?: number;
  readonly users?: Given['users'];
  /** Descriptors that it inherits, by number. */
  readonly inherits?: Readonly<Record<number, number>>;
}

/** Another process with a worker's commands; resolves with what its program writes first. */
async function startWorker(
  command: string,
  { uid, users, inherits = {} }: WorkerOptions = {},
  own = folder,
): Promise<{ text: string; end: () => Promise<void> }> {
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  for (const [at, descriptor] of Object.entries(inherits)) stdio[Number(at)] = descriptor;
  for (let at = 0; at < stdio.length; at += 1) stdio[at] ??= 'ignore';
  const worker = spawn(process.execPath, ['--input-type=module', '-e', WORKER, own, command, JSON.stringify(users ?? null)], {
    env: childEnvironment(),
    stdio,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const [first] = (await once(worker.stdout ?? process.stdin, 'data')) as [Buffer];
  const end = async (): Promise<void> => {
    worker.kill('SIGKILL');
    if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
  };
  return { text: String(JSON.parse(first.toString())), end };
}

describe.runIf(isRoot)('a worker beside others', () => {
  it('has a killed one’s program and folder gone before its user is had again', async () => {
    const users = { first: 61_000, count: 1 };
    const program = `echo hidden > kept; (cd /; env -i setsid sh -c 'sleep 600 > /dev/null 2>&1 & echo $! >&3' 3> "$HOME/pid" > /dev/null 2>&1 < /dev/null); cat "$HOME/pid"; sleep 600`;
    const killed = await startWorker(program, { users });
    await killed.end();
    const pid = killed.text.trim();
    expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\s+61000/m);
    const { ended, text } = start(`id -u; cat ${folder}/*/w*/kept; grep ^State: /proc/${pid}/status | grep -v Z`, {}, open({ users }));
    await ended.catch(() => undefined);
    expect(text()).toBe('61000\n');
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(['KILL', 'STOP'])('ends what sends %s to all others of its user without a pause', async (signal) => {
    const uid = 61_020;
    const user = await openUserSource({ kind: 'each', first: uid, count: 1, gid: undefined, isDefault: false })(createMark('f'), folder);
    const program = `for (process.stdout.write('begun'); Date.now() < ${Date.now() + 60_000}; ) try { process.kill(-1, 'SIG${signal}') } catch {}`;
    const hostile = spawn(process.execPath, ['-e', program], { uid, gid: uid, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(hostile.stdout, 'data');
    expect(await user?.end(10_000)).toEqual([]);
    await user?.release(true);
    expect(hostile.signalCode ?? (await once(hostile, 'exit'))[1]).toBe('SIGKILL');
  });

  it('waits without an attempt while all users are taken, and takes none that runs something else', async () => {
    const users = { first: 61_010, count: 1 };
    const other = spawn('sleep', ['600'], { uid: 61_010, gid: 61_010, stdio: 'ignore' });
    await once(other, 'spawn');
    try {
      const { ended } = start('true', {}, open({ users }));
      await expect(ended).rejects.toMatchObject({
        hold: { gate: 'commands', what: 'users' },
        message: 'All 1 users of commands.users are taken on this machine',
      });
      expect(other.exitCode ?? other.signalCode).toBe(null);
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    await start('true', {}, open({ users })).ended;
  });

  it('passes on no descriptor that it inherited', async () => {
    const { open: openFile } = await import('node:fs/promises');
    const secret = await openFile(join(secrets, 'target', 'key'));
    const worker = await startWorker('ls /proc/self/fd | tr "\\n" " "', { inherits: { 7: secret.fd, 20: secret.fd, 63: secret.fd } });
    await worker.end();
    await secret.close();
    // The last is the folder that is listed.
    expect(worker.text).toBe('0 1 2 3 ');
  });

  it('that is not root runs programs as its own user', async () => {
    const own = join(directory, 'of-nobody');
    await mkdir(own);
    await chmod(own, 0o777);
    const worker = await startWorker('id -u; grep -c "NoNewPrivs:.0" /proc/self/status; touch out/file', { uid: 65_534 }, own);
    await worker.end();
    expect(worker.text.split('\n')[0]).toBe('65534');
  });
});

describe('where commands share a user', () => {
  const shared: Given = { uid: 'own' };

  it('those of one tenant run at a time, and the other is held without an attempt until they have ended', async () => {
    const turns: string[] = [];
    const by = open(shared, (tenant) => turns.push(tenant));
    const gate = join(directory, 'turn');
    const first = start(`echo begun; while [ ! -e ${gate} ]; do sleep 0.02; done`, { tenant: 'a' }, by);
    await first.firstWrite;
    const hold = { gate: 'commands', what: 'tenant' };
    await expect(start('true', { tenant: 'b' }, by).ended).rejects.toMatchObject({ hold });
    // In another process of this user it is the same.
    await expect(start('true', { tenant: 'c' }, open(shared)).ended).rejects.toMatchObject({ hold });
    // Who waits comes before who has had a turn.
    await expect(start('true', { tenant: 'a' }, by).ended).rejects.toMatchObject({ hold });
    await writeFile(gate, '');
    await first.ended;
    expect(turns).toEqual(['b']);
    await start('true', { tenant: 'b' }, by).ended;
    await start('true', { tenant: 'a' }, by).ended;
  });

  it('several of one tenant run together, and with commands.sharedUser those of all', async () => {
    for (const [by, tenants] of [
      [open(shared), ['a', 'a']],
      [open({ ...shared, sharedUser: true }), ['a', 'b']],
    ] as const) {
      const both = tenants.map((tenant) => start('echo begun; read -r wait', { tenant, takesInput: true }, by));
      expect(await Promise.all(both.map(({ firstWrite }) => firstWrite))).toEqual(['begun\n', 'begun\n']);
      await Promise.all(both.map(({ ended }) => ended.catch(() => undefined)));
    }
  });
});
