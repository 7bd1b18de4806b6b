import { cp, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DaemonContext, DaemonTask, WorkspaceLeft } from '#daemon';
import { openCommandRunner } from '#shared/agents/index.ts';
import { parseHubMessage } from '#shared/daemons/index.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { commandHandler } from '../../../../../services/cli/commands/daemon/command-handler.ts';
import { removeOldSessions, workspacesIn } from '../../../../../services/cli/commands/daemon/disk-sessions.ts';
import { placeFakeCoders } from '../../../../support/agents/coding/fake-coders.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';
import { waitFor } from '../../../../support/wait-for.ts';

const folder = await useFolder();
const [home, sessions] = [join(folder, 'home'), join(folder, 'data', 'sessions')];
await mkdir(home);
const { claude } = await placeFakeCoders(join(folder, 'bin'));

const task = (given: Partial<DaemonTask>): DaemonTask => ({
  id: '01JD0000000000000000000000',
  tenant: 'acme',
  agent: 'coder',
  input: 'hello',
  system: null,
  session: null,
  sessionSince: null,
  context: {},
  attempt: 1,
  takesInput: false,
  timeoutMs: 60_000,
  deadline: null,
  history: [],
  attachments: [],
  artifactsUrl: null,
  checkpoint: null,
  workspace: null,
  ...given,
});

const ignore = (): void => undefined;
const none = (): Promise<never> => Promise.reject(new Error('the task has no such thing'));

/** What it keeps of its workspace. */
const lefts: WorkspaceLeft[] = [];

/** What it kept as its checkpoint. */
const checkpoints: string[] = [];

function start(given: Partial<DaemonTask>, definition: object = {}): { ended: Promise<string[]>; stop: () => void } {
  const controller = new AbortController();
  const context: DaemonContext = {
    signal: controller.signal,
    write: ignore,
    progress: ignore,
    reportUsage: ignore,
    reportTotal: ignore,
    input: () => Promise.resolve([]),
    inputArrived: () => new Promise(ignore),
    download: none,
    attach: none,
    keepCheckpoint: (text) => {
      checkpoints.push(text);
      return Promise.resolve();
    },
    keptWorkspace: (left) => void lefts.push(left),
    askPeople: none,
    trace: { traceparent: '' },
  };
  const handler = commandHandler({
    commands: {},
    // As `--preset claude-code` makes it: its login is that of the person.
    fallback: { kind: 'command', preset: 'claude-code', command: claude, passEnv: ['HOME'], ...definition },
    runCommand: openCommandRunner({
      directory: folder,
      readSecret: (name) => childEnvironment({ HOME: home })[name],
      fleetId: () => Promise.resolve('d'),
      commands: commandSettingsSchema.parse({ uid: 'own', sharedUser: true, killGraceMs: 100, sessions: { keepEveryMs: 50 } }),
    }),
    warn: ignore,
    sessions,
  });
  const answer = handler(task(given), context);
  const ended = answer.then((result) => {
    const output = typeof result === 'object' ? result.output : undefined;
    return (JSON.parse(output ?? '{}') as { turns: string[] }).turns;
  });
  return { ended, stop: () => controller.abort(new Error('stopped')) };
}

const run = (given: Partial<DaemonTask>): Promise<string[]> => start(given).ended;
const kept = (): Promise<string[]> => readdir(sessions).catch((): string[] => []);

const workspace = { source: { keep: true } as const, keepMs: 60_000 };

const write = (given: Partial<DaemonTask>): Promise<unknown> => run({ agent: 'builder', workspace, ...given });

const begun = (source: object): Promise<unknown> =>
  start({ id: 'z', input: 'hello', workspace: { ...workspace, source: source as never } }).ended;

describe('the workspace of a session on a daemon', () => {
  const shelf = workspacesIn(sessions);
  it('goes on with the session, is said to the hub, and is removed when the hub says so', async () => {
    await write({ id: 'w1', session: 'w', input: 'write a.txt' });
    await write({ id: 'w2', session: 'w', input: 'write b.txt' });
    await write({ id: 'w3', input: 'write c.txt' });
    expect(lefts.at(-1)).toEqual({ bytes: expect.any(Number), changes: null });
    const own = { agent: 'builder', session: 'w', taskId: 'w2' };
    expect(await shelf.list()).toEqual(expect.arrayContaining([own, { agent: 'builder', session: null, taskId: 'w3' }]));
    // Another task has run in it since then, or it is another's.
    for (const other of [{ taskId: 'w1' }, { session: 'v' }, { agent: '../w' }]) await shelf.remove({ ...own, ...other });
    expect(await shelf.list()).toHaveLength(2);
    await shelf.remove(own);
    expect(await shelf.list()).toHaveLength(1);
    expect(await kept()).toHaveLength(2);
  });

  it('begins again once it was kept for as long as the fleet says', async () => {
    const given = { session: 'x', workspace: { ...workspace, keepMs: 60_000 } };
    await write({ ...given, id: 'x1', input: 'write a.txt' });
    const old = new Date(Date.now() - 60_000);
    for (const name of await kept()) await utimes(join(sessions, name), old, old);
    expect(await write({ ...given, id: 'x2', input: 'write b.txt' })).toEqual(['write b.txt']);
    expect(await shelf.list()).toEqual([{ agent: 'builder', session: 'x', taskId: 'x2' }]);
    await shelf.remove({ agent: 'builder', session: 'x', taskId: 'x2' });
    expect(await kept()).toEqual([]);
  });

  it('is refused where all commands run in one folder', async () => {
    await expect(start({ id: 'y', input: 'hello', workspace }, { cwd: folder }).ended).rejects.toThrow('--cwd');
  });

  it('is bounded as on a worker: no option of git, and no folder that is not there', async () => {
    await expect(begun({ path: '../nowhere' })).rejects.toThrow('The workspace could not be made');
    await expect(begun({ git: join(folder, 'nowhere') })).rejects.toThrow('The workspace could not be made');
    for (const source of [{ git: '--upload-pack=touch x' }, { git: 'a', ref: '-x' }, { keep: false }, { path: '' }]) {
      const execute = { type: 'task.execute', taskId: 't', token: 1, attempt: 1, agent: 'a', input: '', timeoutMs: 1 };
      expect(parseHubMessage(JSON.stringify({ ...execute, workspace: { source, keepMs: 1 } })).ok).toBe(false);
    }
  });
});

describe('a coding agent of a daemon', () => {
  it('goes on in its session, and in a new one when somebody begins one', async () => {
    expect(await run({ id: 'a', session: 's1', input: 'one' })).toEqual(['one']);
    expect(await run({ id: 'b', session: 's2', input: 'of another' })).toEqual(['of another']);
    expect(await run({ id: 'c', session: 's1', input: 'two' })).toEqual(['one', 'two']);
    expect(await run({ id: 'd', session: 's1', tenant: 'other', input: 'three' })).toEqual(['three']);
    const sessionSince = new Date().toISOString();
    expect(await run({ id: 'e', session: 's1', input: 'new', sessionSince })).toEqual(['new']);
    expect(await run({ id: 'f', session: 's1', input: 'newer', sessionSince })).toEqual(['new', 'newer']);
    expect(await kept()).toHaveLength(6);
  });

  it('goes on where its daemon was killed', async () => {
    const before = (await kept()).length;
    const { ended, stop } = start({ id: 'g', input: 'slow work' });
    await waitFor(async () => (await kept()).length === before + 2, { deadlineMs: 20_000, what: 'the session to be kept' });
    await cp(sessions, join(folder, 'copy'), { recursive: true });
    stop();
    await expect(ended).rejects.toThrow('stopped');
    await rm(sessions, { recursive: true });
    await cp(join(folder, 'copy'), sessions, { recursive: true });
    const turns = await run({ id: 'g', attempt: 2, input: 'slow work' });
    expect(turns).toEqual(['slow work', expect.stringMatching(/^This run was interrupted.*slow work$/s)]);
  });

  it('starts anew when its archive is gone, or its note is none', async () => {
    await run({ id: 'h', session: 's3', input: 'one' });
    const archives = (await kept()).filter((name) => name.endsWith('.tar.gz'));
    for (const name of archives) await rm(join(sessions, name));
    expect(await run({ id: 'i', session: 's3', input: 'two' })).toEqual(['two']);
    for (const name of (await kept()).filter((each) => each.endsWith('.json'))) await writeFile(join(sessions, name), '{');
    expect(await run({ id: 'j', session: 's3', input: 'three' })).toEqual(['three']);
  });

  it('asks people for permission, and goes on in its session with the answer, where its hub is of an older version', async () => {
    const definition = { permissions: 'ask' };
    const place = { url: 'http://127.0.0.1/', key: 'k', askMs: null };
    await start({ id: 'p', input: 'ask rm x', checkpoint: { ...place, text: null, resumed: null } }, definition).ended;
    const [text = null] = checkpoints;
    expect(JSON.parse(text ?? '')).toMatchObject({ suspend: { ask: { question: expect.stringContaining('"rm x"') } } });
    const { ended } = start({ id: 'p', attempt: 2, input: 'ask rm x', checkpoint: { ...place, text, resumed: '"approve"' } }, definition);
    expect(await ended).toEqual(['ask rm x', expect.stringMatching(/a person allowed it/)]);
  });

  it('leaves nothing on the disk a week after its last run, nor half of an archive', async () => {
    await rm(sessions, { recursive: true });
    await run({ id: 'k', session: 's4', input: 'old' });
    const old = new Date(Date.now() - 8 * 86_400_000);
    for (const name of await kept()) await utimes(join(sessions, name), old, old);
    await run({ id: 'l', session: 's5', input: 'new' });
    await writeFile(join(sessions, `${'0'.repeat(64)}.half.tar.gz`), 'half');
    await removeOldSessions(sessions, Date.now());
    expect(await kept()).toHaveLength(2);
    expect(await run({ id: 'm', session: 's5', input: 'newer' })).toEqual(['new', 'newer']);
  });
});
