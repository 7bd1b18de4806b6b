import { cp, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DaemonContext, DaemonTask } from '#daemon';
import { openCommandRunner } from '#shared/agents/index.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { commandHandler } from '../../../../../services/cli/commands/daemon/command-handler.ts';
import { removeOldSessions } from '../../../../../services/cli/commands/daemon/disk-sessions.ts';
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
  ...given,
});

const ignore = (): void => undefined;
const none = (): Promise<never> => Promise.reject(new Error('the task has no such thing'));

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
