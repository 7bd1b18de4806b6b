import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeFakeCoders } from '../../support/agents/coding/fake-coders.ts';
import { type DaemonProcess, startMusterDaemon } from '../../support/daemons/daemon-process.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const folder = await useFolder();
const data = join(folder, 'data');

let fleet: Fleet;
let hub: ServiceProcess;
let daemon: DaemonProcess;
let token: string;
let claude: string[];

function makeRepository(path: string): void {
  const git = (...words: string[]): void => void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', path, ...words]);
  execFileSync('git', ['init', '-q', path]);
  writeFileSync(join(path, 'read.me'), 'Read me.\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
}

async function startDaemon(): Promise<void> {
  const args = ['--preset', 'claude-code', '--data-dir', data, '--', ...claude];
  // Without a HOME of a person its programs have their own, and their sessions are kept.
  daemon = startMusterDaemon(args, { hub: hub.url, token, folder, env: { HOME: undefined } });
  await daemon.prints('Connected to');
}

async function killDaemon(): Promise<void> {
  daemon.signal('SIGKILL');
  await daemon.ended;
}

/** Sends a message, and gives what the agent says of its conversation, once it has answered. */
async function say(session: string, text: string): Promise<{ turns: string[]; files: string[] }> {
  const { body } = await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text, agent: 'builder', mode: 'queue' } });
  const [task] = await fleet.client.ended([String(body['id'])], 60_000);
  expect(task).toMatchObject({ status: 'completed' });
  return JSON.parse(task?.output ?? '{}') as { turns: string[]; files: string[] };
}

interface WorkspaceView {
  agent: string;
  changes: string | null;
  bytes: number | null;
  daemon: { name: string | null; status: string } | null;
}

async function workspacesOf(session: string): Promise<WorkspaceView[]> {
  return (await fleet.client.call('GET', `/v1/sessions/${session}`)).body['workspaces'] as WorkspaceView[];
}

/** The files of what it keeps. */
const kept = (): Promise<string[]> => readdir(join(data, 'sessions')).catch((): string[] => []);

beforeAll(async () => {
  // As root, programs have users of their own.
  await chmod(folder, 0o755);
  ({ claude } = await placeFakeCoders(join(folder, 'bin')));
  makeRepository(join(folder, 'origin'));
  fleet = await openFleet({
    settings: {
      agents: { builder: { kind: 'daemon', workspace: { git: join(folder, 'origin') } } },
      hub: { heartbeatMs: 500, resendMs: 200, sweepMs: 500, excludeMs: 500 },
    },
  });
  const api = await fleet.start('api');
  [hub] = await Promise.all([fleet.start('hub', { MUSTER_PUBLIC_URL: api.url }), fleet.start('worker')]);
  ({ token } = (await fleet.client.make('/v1/daemons', { name: 'laptop', capabilities: ['code'] })) as { token: string });
  await startDaemon();
});
afterAll(async () => {
  await killDaemon();
  await fleet?.stop();
});

it('a session has a checkout on the disk of its daemon, which outlives the daemon, and goes with the session', async () => {
  expect((await say('build', 'write a.txt')).files).toEqual(['a.txt', 'read.me']);
  const { turns, files } = await say('build', 'write read.me');
  expect([turns, files]).toEqual([
    ['write a.txt', 'write read.me'],
    ['a.txt', 'read.me'],
  ]);
  expect(await workspacesOf('build')).toEqual([
    expect.objectContaining({
      agent: 'builder',
      bytes: expect.any(Number),
      changes: expect.stringMatching(/^ a\.txt .*\n read\.me .*\n 2 files changed/),
      daemon: expect.objectContaining({ name: 'laptop', status: expect.stringMatching(/^(online|busy)$/) }),
    }),
  ]);

  await killDaemon();
  await waitFor(async () => (await workspacesOf('build'))[0]?.daemon?.status === 'offline', {
    deadlineMs: 30_000,
    what: 'the daemon to be offline',
  });
  await startDaemon();
  expect((await say('build', 'write b.txt')).files).toEqual(['a.txt', 'b.txt', 'read.me']);

  await say('other', 'write c.txt');
  expect(await kept()).toHaveLength(4);
  const erasure = await fleet.client.call('DELETE', '/v1/sessions/build?erase=true');
  expect(erasure.status).toBe(200);
  await waitFor(async () => (await workspacesOf('build')).length === 0, { deadlineMs: 30_000, what: 'the session to be erased' });
  // It asks once it is connected, and each minute then.
  await killDaemon();
  await startDaemon();
  await waitFor(async () => (await kept()).length === 2, { deadlineMs: 30_000, what: 'the checkout to be removed' });
  expect((await say('other', 'hello')).files).toEqual(['c.txt', 'read.me']);
});
