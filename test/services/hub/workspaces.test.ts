import { afterAll, describe, expect, it } from 'vitest';
import { forgetWorkspaces } from '#shared/daemons/index.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useApi } from '../api/support/use-api.ts';

const KEEP_MS = 3_600_000;
const source = { git: 'https://git.example.com/shop.git', ref: 'main' };
const api = await useApi({
  agents: { builder: { kind: 'daemon', workspace: source } },
  hub: { resendMs: 50, sweepMs: 200, graceMs: 60_000 },
  workspaces: { keepMs: KEEP_MS },
});
const { parts } = api;
const hub = await startHub(parts);
afterAll(() => hub.stop());

// oxlint-disable-next-line typescript/no-explicit-any -- a missing field fails the test
const get = async (path: string): Promise<any> => (await api.call('GET', path)).body;

const send = async (session: string | null, target: string): Promise<string> => {
  const body = { agent: 'builder', input: 'build it', ...(session && { session }), requirements: { targetDaemon: target } };
  return (await api.call('POST', '/v1/tasks', { body })).body.id as string;
};

const connect = async (secret: string, capabilities = ['workspaces']): Promise<RawDaemon> => {
  const daemon = await RawDaemon.welcomed(hub.url, secret, { capabilities });
  daemon.send({ type: 'daemon.heartbeat', load: 0 });
  return daemon;
};

describe('a daemon that keeps workspaces', () => {
  it('is given what the workspace begins as, and what it keeps stands with the session', async () => {
    // What it may declare otherwise does not matter.
    const { id, token } = await registerDaemon(parts, { name: 'laptop', capabilities: [] });
    const daemon = await connect(token);
    const task = await send('shop', id);
    const execute = await daemon.accept();
    expect(execute.workspace).toEqual({ source, keepMs: KEEP_MS });
    const where = { id, name: 'laptop', status: 'online' };
    expect((await get('/v1/sessions/shop')).workspaces).toMatchObject([{ agent: 'builder', taskId: task, bytes: null, daemon: where }]);
    const name = { taskId: task, token: execute.token };
    const changes = ` read.me | 2 +-\n${'x'.repeat(9000)}`;
    daemon.send({ type: 'task.completed', ...name, output: 'done', workspace: { bytes: 1234, changes } });
    await daemon.next('task.acknowledged');
    const [workspace] = (await get('/v1/sessions/shop')).workspaces;
    expect(workspace).toMatchObject({ bytes: 1234, daemon: where });
    expect(workspace.changes).toMatch(/^ read\.me/);
    expect(workspace.changes.length).toBeLessThanOrEqual(4000);
    daemon.vanish();
    await waitFor(async () => (await get('/v1/sessions/shop')).workspaces[0].daemon.status === 'offline', {
      deadlineMs: 20_000,
      what: 'the daemon to be offline',
    });
  });

  it('removes what nobody can go on in', async () => {
    const { id, token } = await registerDaemon(parts);
    const daemon = await connect(token);
    const names: { agent: string; session?: string; taskId: string }[] = [];
    for (const session of ['one', 'two', null]) {
      const taskId = await send(session, id);
      const { token: attempt } = await daemon.accept();
      daemon.send({ type: 'task.completed', taskId, token: attempt, workspace: { bytes: 1 } });
      await daemon.next('task.acknowledged');
      names.push({ agent: 'builder', taskId, ...(session !== null && { session }) });
    }
    daemon.send({ type: 'workspaces.kept', kept: names });
    expect((await daemon.next('workspaces.remove')).remove).toEqual([]);
    await forgetWorkspaces(parts.ledger, 'default', 'session/two');
    // Another's of the same name is not its own.
    const strange = [{ agent: 'other', session: 'one', taskId: 't' }];
    daemon.send({ type: 'workspaces.kept', kept: [...names, ...strange] });
    expect((await daemon.next('workspaces.remove')).remove).toEqual([names[1], ...strange]);
    daemon.send({ type: 'workspaces.kept', kept: Array.from({ length: 101 }, () => ({ agent: 'a', taskId: 't' })) });
    expect(await daemon.next('error')).toMatchObject({ code: 'message.invalid' });
    daemon.vanish();
  });
});

it('a daemon of an older release gets no task with a workspace, and why says what it lacks', async () => {
  const { id, token } = await registerDaemon(parts, { name: 'old desk' });
  const daemon = await connect(token, ['browser']);
  const task = await send('old', id);
  const reasonOf = async (): Promise<string> => (await get(`/v1/tasks/${task}/why`)).reasons[0]?.detail ?? '';
  await waitFor(async () => (await reasonOf()).includes('which lacks workspaces'), { deadlineMs: 20_000, what: 'the reason' });
  expect(daemon.received.filter(({ type }) => type === 'task.execute')).toEqual([]);
  daemon.vanish();
});

it.each([
  [{ path: '/srv' }, 422],
  [{ git: '/srv/shop' }, 422],
  [{ git: 'ext::sh -c id' }, 422],
  [{ git: '--upload-pack=id' }, 422],
  [{ git: 'https://git.example.com/a.git', ref: '--x' }, 422],
  [{ git: 'git@git.example.com:shop.git' }, 201],
  [{ keep: true }, 201],
] as const)('an agent made by API may have the workspace %j: %i', async (workspace, status) => {
  const made = await api.call('PUT', `/v1/agents/made-${Math.random().toString(36).slice(2)}`, { body: { kind: 'daemon', workspace } });
  expect(made.status).toBe(status);
});
