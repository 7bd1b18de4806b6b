import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readProcess } from '#shared/agents/command/processes/process-table.ts';
import { useFolder } from '../../../../support/use-folder.ts';
import { executeMessage, startFakeHub, type FakeHub } from '../../../../support/daemons/fake-hub.ts';
import { runMuster, startMuster } from '../../run-muster.ts';

const folder = await useFolder();
const token = join(folder, 'daemon.token');
await writeFile(token, 'md_secret\n');
await chmod(token, 0o600);

const hubs: FakeHub[] = [];
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close();
});

async function startHub(): Promise<FakeHub> {
  const hub = await startFakeHub();
  hubs.push(hub);
  return hub;
}

/** Prints its prompt, the files in its folder, and some of its environment. */
const SHOW = 'cat; echo; pwd; echo "task $MUSTER_TASK_ID trace $TRACEPARENT token $MUSTER_DAEMON_TOKEN mine $MINE"';

describe('muster daemon', () => {
  it('runs each task by the command, in a folder of its own, and drains on Ctrl-C', async () => {
    const hub = await startHub();
    const { child, ended } = startMuster(
      ['daemon', '--hub', hub.url, '--capabilities', 'code,browser', '--slots', '3', '--pass-env', 'MINE', '--', 'sh', '-c', SHOW],
      {
        env: { MUSTER_DAEMON_TOKEN: 'md_secret', MINE: 'passed' },
      },
    );
    const connection = await hub.connection(0);
    expect(await connection.first('daemon.hello')).toMatchObject({ capabilities: ['code', 'browser', 'workspaces'], slots: 3 });
    expect(connection.authorization).toBe('Bearer md_secret');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { taskId, token: fencing } = executeMessage();
    connection.send(executeMessage({ taskId, token: fencing, input: 'Hello there', traceparent }));
    await connection.first('task.completed');
    const output = connection
      .all('task.output')
      .map(({ text }) => text)
      .join('');
    expect(output).toMatch(/^Hello there\n\/.*muster-attempt-.*\/work\n/);
    expect(output).toContain(`task ${taskId} trace ${traceparent} token  mine passed`);
    connection.send({ type: 'task.acknowledged', taskId, token: fencing, outcome: 'kept' });
    child.kill('SIGINT');
    const result = await ended;
    expect(result.code).toBe(0);
    // As lines of `muster watch`: a time of day without its zone could be that of the hub.
    expect(result.stderr).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d [A-Z]\\S+  Task ${taskId} completed`, 'm'));
    expect(result.stderr).not.toContain('md_secret');
  }, 60_000);

  it('ends what runs on a second Ctrl-C, with everything that the command started', async () => {
    const hub = await startHub();
    const { child, ended } = startMuster([
      'daemon',
      '--hub',
      hub.url,
      '--token-file',
      token,
      '--',
      'sh',
      '-c',
      'sleep 300 & echo started; wait',
    ]);
    const connection = await hub.connection(0);
    await connection.first('daemon.hello');
    const { taskId, token: fencing } = executeMessage();
    connection.send(executeMessage({ taskId, token: fencing }));
    await connection.first('task.output');
    child.kill('SIGINT');
    await connection.first('daemon.heartbeat', ({ isDraining }) => isDraining);
    child.kill('SIGINT');
    expect((await connection.first('task.failed')).error.code).toBe('DAEMON_CRASHED');
    connection.send({ type: 'task.acknowledged', taskId, token: fencing, outcome: 'kept' });
    const result = await ended;
    expect(result.code).toBe(130);
    expect(result.stderr).toContain('1 task still runs here; Ctrl-C again stops it');
  }, 60_000);

  it('ends what runs when its terminal closes, and leaves nothing that the command started', async () => {
    const hub = await startHub();
    const { child, ended } = startMuster([
      'daemon',
      '--hub',
      hub.url,
      '--token-file',
      token,
      '--',
      'sh',
      '-c',
      'sleep 300 & echo $!; wait',
    ]);
    const connection = await hub.connection(0);
    await connection.first('daemon.hello');
    const { taskId, token: fencing } = executeMessage();
    connection.send(executeMessage({ taskId, token: fencing }));
    const pid = Number((await connection.first('task.output')).text);
    expect(readProcess(pid)).not.toBeNull();
    const exited = once(child, 'exit');
    ended.catch(() => undefined);
    child.stderr?.destroy();
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    expect((await connection.first('task.failed')).error.code).toBe('DAEMON_CRASHED');
    expect(readProcess(pid)).toBeNull();
    connection.send({ type: 'task.acknowledged', taskId, token: fencing, outcome: 'kept' });
    expect(await exited).toEqual([130, null]);
  }, 60_000);

  it('runs the command of the agent, with the prompt where it asks for it, and says which agents it has', async () => {
    const hub = await startHub();
    const commands = ['--agent', "coder=printf 'coder: %s' {prompt}", '--agent', 'broken=sh -c "echo no disk >&2; exit 3"'];
    const { child, ended } = startMuster(['daemon', '--hub', hub.url, '--token-file', token, '--slots', '2', ...commands]);
    const connection = await hub.connection(0);
    expect(await connection.first('daemon.hello')).toMatchObject({ agents: ['coder', 'broken'] });
    connection.send(executeMessage({ agent: 'coder', input: 'two words' }));
    connection.send(executeMessage({ agent: 'broken' }));
    await connection.first('task.completed');
    expect(connection.all('task.output').map(({ text }) => text)).toEqual(['coder: two words']);
    expect((await connection.first('task.failed')).error).toMatchObject({
      code: 'COMMAND_FAILED',
      retryable: true,
      details: { exitCode: 3, stderr: 'no disk\n' },
    });
    for (const { taskId, token: fencing } of [...connection.all('task.completed'), ...connection.all('task.failed')]) {
      connection.send({ type: 'task.acknowledged', taskId, token: fencing, outcome: 'kept' });
    }
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }, 60_000);
});

describe('muster daemon says what is wrong', () => {
  it.each([
    ['nothing to run', ['--token-file', token], 'There is no command to run'],
    ['no token', ['--', 'cat'], 'There is no token. Register this daemon (npx muster daemons add <name>)'],
    ['a token file that is not there', ['--token-file', '/nowhere/token', '--', 'cat'], 'The token file cannot be read'],
    [
      'an address that is none',
      ['--hub', 'muster.example.com', '--token-file', token, '--', 'cat'],
      '"muster.example.com" is not the address of a hub',
    ],
    [
      'a program that is not there',
      ['--hub', 'http://127.0.0.1:9', '--token-file', token, '--', 'no-such-program'],
      'The command cannot run on this machine: the program "no-such-program" is not found',
    ],
    [
      'a variable that is not set',
      ['--hub', 'http://127.0.0.1:9', '--token-file', token, '--pass-env', 'NOT_SET', '--', 'cat'],
      'variables that are not set: NOT_SET',
    ],
    ['slots that are no number', ['--slots', 'many', '--', 'cat'], 'Expected a number from 1 on'],
    ['an agent without a command', ['--agent', 'coder'], 'Expected a name and a command'],
    ['a preset that is not known', ['--preset', 'emacs'], 'claude-code, codex, opencode, aider'],
  ])('with %s', async (_what, args, message) => {
    const { code, stderr } = await runMuster(['daemon', ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    [401, 'does not know this token', 'daemon.token'],
    [404, 'There is no hub at ws://', 'daemon.not-a-hub'],
  ])('when the hub answers %i', async (status, message, problem) => {
    const hub = await startHub();
    hub.refuse(status);
    const { code, stderr } = await runMuster(['daemon', '--hub', hub.url, '--token-file', token, '--', 'cat']);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`[${problem}]`);
    expect(code).toBe(2);
  });

  it('when the token can be seen by others', async () => {
    const open = join(folder, 'open.token');
    await writeFile(open, 'md_secret', { mode: 0o644 });
    const hub = await startHub();
    hub.refuse(401);
    const named = await runMuster(['daemon', '--hub', hub.url, '--token-file', open, '--', 'cat']);
    expect(named.stderr).toContain(`chmod 600 ${open}`);
    const typed = await runMuster(['daemon', '--hub', hub.url, '--token', 'md_secret', '--', 'cat']);
    expect(typed.stderr).toContain('Others on this machine can see the token');
  });
});

describe('muster daemon --print-service', () => {
  const args = [
    'daemon',
    '--hub',
    'https://muster.example.com',
    '--token-file',
    '/etc/muster/token',
    '--token',
    'md_secret',
    '--slots',
    '2',
  ];

  it('prints a systemd unit with the same options and without the token', async () => {
    const { code, stdout, stderr } = await runMuster([...args, '--print-service', 'systemd', '--', 'sh', '-c', 'echo "100%" $HOME']);
    expect(code).toBe(0);
    const start = stdout.split('\n').find((line) => line.startsWith('ExecStart='));
    expect(start).toContain('"--hub" "https://muster.example.com" "--token-file" "/etc/muster/token" "--slots" "2"');
    expect(start).toContain(String.raw`"--" "sh" "-c" "echo \"100%%\" $$HOME"`);
    // A service has a short PATH of its own.
    expect(stdout).toContain('Environment="PATH=/');
    expect(stderr).toContain('It reads the token from /etc/muster/token, which is not there yet');
    expect(stdout).toContain('RestartPreventExitStatus=2');
    expect(stdout).not.toContain('md_secret');
  });

  it('prints a launchd unit', async () => {
    const { code, stdout } = await runMuster([...args, '--print-service', 'launchd', '--preset', 'codex', '--agent', 'draw=a & <b>']);
    expect(code).toBe(0);
    expect(stdout).toContain('    <string>--preset</string>\n    <string>codex</string>');
    expect(stdout).toContain('<string>draw=a &amp; &lt;b&gt;</string>');
    expect(stdout).toContain('    <key>PATH</key>\n    <string>/');
    expect(stdout).not.toContain('md_secret');
  });

  it('writes the log of a launchd service to a folder of its user', async () => {
    const { stdout } = await runMuster([...args, '--print-service', 'launchd']);
    const log = join(homedir(), 'Library/Logs/muster-daemon.log');
    expect(stdout).toContain(`  <key>StandardErrorPath</key>\n  <string>${log}</string>`);
  });
});
