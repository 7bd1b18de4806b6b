import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import type { OutputListing } from '#shared/agents/command/folder/attempt-folder.ts';
import { runCommand } from '#shared/agents/command/run-command.ts';
import { trackCommands } from '#shared/agents/command/processes/attempt-processes.ts';
import { openCgroups } from '#shared/agents/command/processes/cgroup.ts';
import { readVariables } from '#shared/agents/command/start/command-environment.ts';
import { openUserSource } from '#shared/agents/command/users/attempt-users.ts';
import type { CommandUsers } from '#shared/agents/command/users/command-user.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import type { AgentResult } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { type AgentRunOptions, failureOf, type ObservedRun, observeRun, TRACEPARENT } from '../../../support/agents/agent-run.ts';
import { isProcessGone } from '../../../support/agents/agent-process.ts';
import { textOf } from '../../../support/agents/output-text.ts';
import { childEnvironment } from '../../../support/test-environment.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useFolder } from '../../../support/use-folder.ts';

const directory = await useFolder('muster-command-');

const NOBODY = { kind: 'one', user: { uid: 65_534, gid: 65_534 } } as const;

type Observed = ObservedRun<DefinitionOf<'command'>>;

const variables: Record<string, string> = { ...childEnvironment(), SECRET: 'not for them', ASKED_FOR: 'for them' };

function attempt({ run }: Observed, killGraceMs = 100, users: CommandUsers = { kind: 'own' }): Promise<AgentResult> {
  const settings = commandSettingsSchema.parse({ killGraceMs, pollMs: 50 });
  return runCommand(run, {
    directory,
    variables: readVariables(run.definition, (name) => variables[name]),
    running: trackCommands(settings.pollMs),
    fleetId: () => Promise.resolve('f'),
    settings,
    cgroups: openCgroups(settings.cgroup),
    users: openUserSource(users),
    turn: null,
  });
}

/** An agent that runs this program for Node. */
function node(program: string, definition: Partial<DefinitionOf<'command'>> = {}, options: AgentRunOptions = {}): Observed {
  return observeRun<'command'>({ kind: 'command', command: [process.execPath, '-e', program], ...definition }, options);
}

function shell(program: string, options: AgentRunOptions = {}): Observed {
  return observeRun<'command'>({ kind: 'command', command: ['sh', '-c', program] }, options);
}

async function expectGone(...pids: string[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of pids) await waitFor(() => isProcessGone(Number(pid)), { deadlineMs: 2000, what: `process ${pid} to be gone` });
}

describe('a command agent', () => {
  it('gets the prompt on its stdin, and its stdout is the output', async () => {
    const input = 'grüße\n'.repeat(50_000);
    const observed = observeRun<'command'>({ kind: 'command', command: ['cat'] }, { task: { input } });
    expect(await attempt(observed)).toEqual({});
    expect(observed.written.join('')).toBe(input);
  });

  it('streams what it writes while it still runs', async () => {
    const gate = join(directory, 'gate');
    const observed = shell(`printf first; while [ ! -e "${gate}" ]; do sleep 0.01; done; printf second`);
    const running = attempt(observed);
    expect(await observed.firstWrite).toBe('first');
    await writeFile(gate, '');
    await running;
    expect(observed.written.join('')).toBe('firstsecond');
  });

  it('reports usage by lines of its stderr, and passes over a line that cannot be read', async () => {
    const line = 'muster-usage {"model":"größe","inputTokens":1,"outputTokens":2}';
    const observed = shell(`printf '%s\\n' 'not usage' '${line}' 'muster-usage what' '${line}' >&2; printf done`);
    expect(await attempt(observed)).toEqual({});
    const used = { model: 'größe', inputTokens: 1, outputTokens: 2 };
    expect(observed.usages).toEqual([used, used]);
    expect(observed.warnings).toHaveLength(1);
    expect(observed.written.join('')).toBe('done');
  });

  it('ends well when the program reads nothing of a long prompt', async () => {
    const observed = observeRun<'command'>({ kind: 'command', command: ['true'] }, { task: { input: 'x'.repeat(1_000_000) } });
    expect(await attempt(observed)).toEqual({});
  });

  it('sees PATH, LANG, folders of its own, what is passed or set for it, and the task, and nothing else', async () => {
    const definition = { passEnv: ['ASKED_FOR', 'NOT_SET'], env: { MODE: 'fast' } };
    const observed = node("console.log(JSON.stringify(require('node:process').env))", definition, { task: { attempt: 3, session: 's1' } });
    await attempt(observed);
    const seen = JSON.parse(observed.written.join('')) as Record<string, string>;
    expect(seen).toMatchObject({
      PATH: variables['PATH'],
      ASKED_FOR: 'for them',
      MODE: 'fast',
      MUSTER_TASK_ID: '01JD0000000000000000000000',
      MUSTER_ATTEMPT: '3',
      MUSTER_TENANT: 'acme',
      MUSTER_SESSION: 's1',
      TRACEPARENT,
    });
    const known =
      /^(PATH|HOME|TMPDIR|LANG|ASKED_FOR|MODE|MUSTER_(TASK_ID|ATTEMPT|ATTEMPT_MARK|TENANT|SESSION|IN_DIR|OUT_DIR)|TRACEPARENT|__CF_USER_TEXT_ENCODING|PWD|OLDPWD|SHLVL|_)$/;
    expect(Object.keys(seen).filter((name) => !known.test(name))).toEqual([]);
  });

  it('runs in a folder of its own unless it names another, and that is gone afterwards', async () => {
    const own = shell('pwd; echo "$HOME"; echo "$TMPDIR"; touch here "$HOME/there"; mktemp; stat -c %a . "$HOME" "$TMPDIR"');
    await attempt(own);
    const [work = '', home = '', temporary = '', file = '', ...modes] = own.written.join('').trim().split('\n');
    expect(file).toMatch(new RegExp(`^${temporary}/`));
    expect(modes).toEqual(['700', '700', '700']);
    const other = shell('pwd');
    await attempt(other);
    expect(other.written.join('').trim()).not.toBe(work);
    for (const folder of [work, home, temporary]) await expect(realpath(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    const named = observeRun<'command'>({ kind: 'command', command: ['pwd'], cwd: '.' });
    await attempt(named);
    expect(named.written.join('').trim()).toBe(directory);
  });

  it('finds the files of its task in its folder, and what it leaves in out is kept once it has ended', async () => {
    const observed = shell('cat in/data.txt > out/copy.txt; echo "$MUSTER_IN_DIR:$MUSTER_OUT_DIR:$(pwd)"; chmod u+w in/data.txt');
    const kept: string[] = [];
    const files = {
      bringIn: (folder: string) => writeFile(join(folder, 'data.txt'), 'brought', { mode: 0o400 }),
      takeOut: async ({ files: left }: OutputListing) => {
        for (const file of left) kept.push(`${file.name}=${await textOf(file)}`);
      },
    };
    await attempt({ ...observed, run: { ...observed.run, files } }, 100, process.getuid?.() === 0 ? NOBODY : undefined);
    expect(kept).toEqual(['copy.txt=brought']);
    const [input, output, work = ''] = observed.written.join('').trim().split(':');
    expect([input, output]).toEqual([join(work, 'in'), join(work, 'out')]);
  });

  it('is not started when its files cannot be brought, and its folder is gone', async () => {
    const observed = shell('echo started');
    const noUpload = new TaskFailure('RESOURCE_NOT_FOUND', 'no such upload');
    const files = { bringIn: () => Promise.reject(noUpload), takeOut: () => expect.unreachable('nothing was left') };
    const failure = await failureOf(attempt({ ...observed, run: { ...observed.run, files } }));
    expect(failure.code).toBe('RESOURCE_NOT_FOUND');
    expect(observed.written).toEqual([]);
  });

  it('finds a program of the configuration whatever folder it runs in', async () => {
    await writeFile(join(directory, 'program.sh'), '#!/bin/sh\npwd\n', { mode: 0o755 });
    const observed = observeRun<'command'>({ kind: 'command', command: ['./program.sh'] });
    await attempt(observed);
    expect(observed.written.join('').trim()).not.toBe(directory);
  });

  it.runIf(process.getuid?.() === 0)('runs as another user, which may write to its own folder only', async () => {
    const secret = join(directory, 'secret');
    await writeFile(secret, 'hidden', { mode: 0o600 });
    const observed = shell(`id -u; id -g; id -G; touch here && echo wrote; cat "${secret}" /proc/$PPID/environ || echo refused`);
    await attempt(observed, 100, NOBODY);
    expect(observed.written.join('')).toBe('65534\n65534\n65534\nwrote\nrefused\n');
  });

  it('fails with COMMAND_FAILED, its exit code and the end of its stderr', async () => {
    const observed = node('process.stderr.write("x".repeat(20000) + "the reason", () => process.exit(3))');
    const failure = await failureOf(attempt(observed));
    expect(failure).toMatchObject({ code: 'COMMAND_FAILED', class: 'transient', details: { exitCode: 3, signal: null } });
    const stderr = String(observed.diagnostics.stderr);
    expect(stderr).toHaveLength(4096);
    expect(stderr).toMatch(/xthe reason$/);
  });

  it('fails with COMMAND_FAILED when a signal ends it', async () => {
    expect(await failureOf(attempt(shell('kill -SEGV $$')))).toMatchObject({
      code: 'COMMAND_FAILED',
      details: { exitCode: null, signal: 'SIGSEGV' },
    });
  });

  it('fails for good when there is no such program or folder, or it may not be run', async () => {
    const file = join(directory, 'plain.txt');
    await writeFile(file, 'text', { mode: 0o644 });
    const missing = observeRun<'command'>({ kind: 'command', command: ['no-such-program-anywhere'] });
    expect(await failureOf(attempt(missing))).toMatchObject({ code: 'RESOURCE_NOT_FOUND', class: 'permanent' });
    const nowhere = observeRun<'command'>({ kind: 'command', command: ['true'], cwd: './nowhere' });
    expect(await failureOf(attempt(nowhere))).toMatchObject({ code: 'RESOURCE_NOT_FOUND', class: 'permanent' });
    const plain = observeRun<'command'>({ kind: 'command', command: [file] });
    expect(await failureOf(attempt(plain))).toMatchObject({ code: 'PERMISSION_DENIED', class: 'permanent' });
  });
});

describe('a command agent that takes input', () => {
  const LONG_MS = 60_000;

  it('gets each message on its stdin, on a line of its own, while it runs', async () => {
    const program = 'read -r prompt; printf "%s|" "$prompt"; read -r more; printf "%s|" "$more"; read -r last; printf "%s" "$last"';
    const observed = observeRun<'command'>({ kind: 'command', command: ['sh', '-c', program], takesInput: true, inputIdleMs: LONG_MS });
    const running = attempt(observed);
    expect(await observed.firstWrite).toBe('hello|');
    observed.say('first line\n  second line\n');
    await waitFor(() => observed.written.length > 1, { deadlineMs: 5000, what: 'the message to be read' });
    observed.say('the end');
    expect(await running).toEqual({});
    expect(observed.written.join('')).toBe('hello|first line second line|the end');
  });

  it('comes to the end of its stdin once nothing happened for a while, with everything that arrived before', async () => {
    const observed = observeRun<'command'>({ kind: 'command', command: ['sort'], takesInput: true, inputIdleMs: 100 });
    observed.say('add this');
    expect(await attempt(observed)).toEqual({});
    expect(observed.written.join('')).toBe('add this\nhello\n');
  });

  it('is not cut off from its messages while it goes on writing', async () => {
    const program = 'for n in 1 2 3 4 5 6; do echo $n; sleep 0.2; done; read -r prompt; read -r more && printf "%s" "$more"';
    const observed = observeRun<'command'>(
      { kind: 'command', command: ['sh', '-c', program], takesInput: true, inputIdleMs: 1000 },
      { onWrite: (text) => (text.startsWith('6') ? observed.say('late') : undefined) },
    );
    await attempt(observed);
    expect(observed.written.join('')).toMatch(/6\nlate$/);
  });

  it('ends well when the program ends without reading, and leaves what arrives then', async () => {
    const observed = observeRun<'command'>(
      { kind: 'command', command: ['true'], takesInput: true, inputIdleMs: LONG_MS },
      { task: { input: 'x'.repeat(1_000_000) } },
    );
    expect(await attempt(observed)).toEqual({});
    observed.say('too late');
    expect(observed.untaken()).toBe(1);
  });

  it('is ended on an abort while it waits for more', async () => {
    const observed = observeRun<'command'>({
      kind: 'command',
      command: ['sh', '-c', 'echo $$; cat'],
      takesInput: true,
      inputIdleMs: LONG_MS,
    });
    const running = attempt(observed);
    const pid = await observed.firstWrite;
    const reason = new Error('cancelled');
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expectGone(pid.trim());
  });

  it('fails when its messages cannot be taken, and is ended', async () => {
    const observed = observeRun<'command'>({
      kind: 'command',
      command: ['sh', '-c', 'echo $$; cat'],
      takesInput: true,
      inputIdleMs: LONG_MS,
    });
    const broken = { ...observed.run.context, input: () => Promise.reject(new Error('no messages')) };
    const running = attempt({ ...observed, run: { ...observed.run, context: broken } });
    observed.say('more');
    await expect(running).rejects.toThrow('no messages');
  });
});

describe('a command agent that has to stop', () => {
  it('is ended with its grandchildren on an abort, and rejects with the reason', async () => {
    const observed = shell('sh -c "echo $$; sleep 600 & echo \\$!; wait" & echo $!; wait');
    const running = attempt(observed);
    const pids = await waitFor(
      () => (observed.written.join('').match(/\d+/g)?.length === 3 ? observed.written.join('').match(/\d+/g) : null),
      {
        deadlineMs: 5000,
        what: 'three processes to start',
      },
    );
    const reason = new Error('cancelled');
    observed.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expectGone(...pids);
  });

  it('may end in its own way when it is asked to, within the grace', async () => {
    const file = join(directory, 'goodbye');
    const program = `process.on("SIGTERM", () => { require("fs").writeFileSync(${JSON.stringify(file)}, ""); process.exit() }); setInterval(() => 0, 1000); console.log("up")`;
    const observed = node(program);
    const running = attempt(observed, 10_000);
    await observed.firstWrite;
    observed.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    await expect(realpath(file)).resolves.toBe(file);
  });

  it('is killed after the grace when it ignores being asked', async () => {
    const observed = shell('trap "" TERM; echo $$; while :; do sleep 0.05; done');
    const running = attempt(observed);
    const pid = await observed.firstWrite;
    observed.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    await expectGone(pid.trim());
  });

  it('is ended when its output is too long, and fails with what write throws', async () => {
    const tooLarge = new TaskFailure('OUTPUT_TOO_LARGE', 'enough');
    const observed = shell('echo $$; while :; do echo more; done', {
      onWrite: () => {
        if (observed.written.length > 0) throw tooLarge;
      },
    });
    const running = attempt(observed);
    await expect(running).rejects.toBe(tooLarge);
    const [pid = ''] = (await observed.firstWrite).split('\n');
    await expectGone(pid);
  });

  it('does not start when the signal has aborted before', async () => {
    const observed = shell('echo started');
    observed.abort(new Error('too late'));
    await expect(attempt(observed)).rejects.toThrow('too late');
    expect(observed.written).toEqual([]);
  });

  it('answers although it left a child behind that holds its output open, and that child is ended', async () => {
    const observed = shell('sleep 600 & echo $!');
    expect(await attempt(observed)).toEqual({});
    await expectGone(observed.written.join('').trim());
  });

  it('ends what left its group and its session', async () => {
    const observed = shell('setsid sh -c "echo $$; sleep 600 & echo \\$!; wait" & setsid sleep 600 >/dev/null 2>&1 & echo $!; sleep 0.2');
    expect(await attempt(observed)).toEqual({});
    const pids = observed.written.join('').trim().split('\n');
    expect(pids).toHaveLength(3);
    expect(pids.map((pid) => isProcessGone(Number(pid)))).toEqual([true, true, true]);
  });

  it('ends what detached itself, cleared its environment and ignores being asked, while it is still in the attempt’s folder', async () => {
    const observed = shell(`(trap "" TERM; env -i setsid sleep 600 & echo $!) 2>&1; sleep 0.1`);
    expect(await attempt(observed)).toEqual({});
    const [pid = ''] = observed.written.join('').trim().split('\n');
    expect(isProcessGone(Number(pid))).toBe(true);
  });

  it('ends what left everything by which it could be known, once a poll had found it', async () => {
    const gate = join(directory, 'leave');
    // Its parent ends after the poll: then it has no parent, environment, folder or session of the attempt's.
    const middle = `env -i sleep 600 & echo $!; while [ ! -e "${gate}" ]; do sleep 0.02; done`;
    const observed = shell(`(cd /; exec env -i setsid /bin/sh -c '${middle}') & sleep 0.3; touch "${gate}"; sleep 0.3`);
    expect(await attempt(observed)).toEqual({});
    const pid = Number(observed.written.join('').trim());
    expect(pid).toBeGreaterThan(0);
    expect(isProcessGone(pid)).toBe(true);
  });
});
