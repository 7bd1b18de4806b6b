import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { openCommandRunner } from '#shared/agents/index.ts';
import type { AgentResult } from '#shared/config/define-config.ts';
import { type CommandSettings, commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { Shelf } from '../../../../support/agents/coding/shelf.ts';
import { placeFakeCoders } from '../../../../support/agents/coding/fake-coders.ts';
import { type ObservedRun, observeRun } from '../../../../support/agents/agent-run.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-sessions-');
const folder = join(directory, 'attempts');
await chmod(directory, 0o711);
await mkdir(folder, { mode: 0o755 });
const { claude, codex } = await placeFakeCoders(join(directory, 'bin'));

/** As root, programs have users of their own besides. */
const USERS = process.getuid?.() === 0 ? (['own', undefined] as const) : (['own'] as const);

interface Turn extends Partial<DefinitionOf<'command'>> {
  readonly input: string;
  readonly uid?: 'own' | undefined;
}

function start(
  shelf: Shelf,
  { input, uid, ...definition }: Turn,
): { observed: ObservedRun<DefinitionOf<'command'>>; ended: Promise<AgentResult> } {
  const commands: CommandSettings = commandSettingsSchema.parse({
    killGraceMs: 100,
    pollMs: 50,
    folder,
    sessions: { keepEveryMs: 100 },
    ...(uid && { uid, sharedUser: true }),
  });
  const runner = openCommandRunner({
    directory,
    readSecret: (name) => childEnvironment()[name],
    fleetId: () => Promise.resolve('f'),
    commands,
  });
  const observed = observeRun<'command'>({ kind: 'command', preset: 'claude-code', command: claude, ...definition }, { task: { input } });
  return { observed, ended: runner({ ...observed.run, sessions: shelf.sessions }) };
}

async function turn(shelf: Shelf, given: Turn): Promise<{ turns: string[]; files: string[]; left: string[] }> {
  const { output } = await start(shelf, given).ended;
  const { turns, files, left } = JSON.parse(output ?? '{}') as { turns: string[]; files: string[]; left: string[] };
  return { turns, files, left };
}

describe.each(USERS)('the session of a coding agent, with commands.uid %s', (uid) => {
  it('of Claude Code goes on in the next turn, with its files, in another folder', async () => {
    const shelf = new Shelf();
    expect(await turn(shelf, { input: 'write a.txt', uid })).toEqual({ turns: ['write a.txt'], files: ['a.txt'], left: [] });
    const first = shelf.note?.id;
    expect(await turn(shelf, { input: 'write b.txt', uid })).toEqual({
      turns: ['write a.txt', 'write b.txt'],
      files: ['a.txt', 'b.txt'],
      left: [],
    });
    expect(shelf.note?.id).toBe(first);
    expect(await readdir(folder)).toEqual([]);
  });

  it('of Claude Code is kept while it runs, and the next attempt goes on with what it was asked', async () => {
    const shelf = new Shelf();
    const { observed, ended } = start(shelf, { input: 'slow work', uid });
    await waitFor(() => shelf.note !== null, { deadlineMs: 20_000, what: 'the session to be kept' });
    const [note, archive] = [shelf.note, shelf.archive];
    observed.abort(new Error('stopped'));
    await expect(ended).rejects.toThrow('stopped');
    // As where the worker was killed: what was kept last is there.
    [shelf.note, shelf.archive, shelf.isOfTask] = [note, archive, true];
    const { turns, files, left } = await turn(shelf, { input: 'slow work', uid });
    expect(turns).toEqual(['slow work', expect.stringMatching(/^This run was interrupted.*\n\nslow work$/s)]);
    expect([files, left]).toEqual([['half.txt'], ['half-made.txt']]);
  });
});

describe('a session that goes on', () => {
  const uid = 'own';

  it('of Codex counts once what it used', async () => {
    const shelf = new Shelf();
    const given = { preset: 'codex', command: codex, uid } as const;
    const first = start(shelf, { ...given, input: 'one' });
    await first.ended;
    const second = start(shelf, { ...given, input: 'two' });
    expect(JSON.parse((await second.ended).output ?? '')).toEqual({ turns: ['one', 'two'], files: [] });
    const used = { inputTokens: 1000, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 };
    expect([first.observed.usages, second.observed.usages]).toEqual([[used], [used]]);
    const killed = start(shelf, { ...given, input: 'slow' });
    await waitFor(() => killed.observed.notes.length > 0, { deadlineMs: 20_000, what: 'its first command' });
    killed.observed.abort(new Error('stopped'));
    await expect(killed.ended).rejects.toThrow('stopped');
    shelf.isOfTask = true;
    const third = start(shelf, { ...given, input: 'go' });
    await third.ended;
    // With the call of the run that was stopped, which had said nothing of it.
    expect(third.observed.usages).toEqual([{ ...used, inputTokens: 2000, outputTokens: 20 }]);
  });

  it('of Claude Code has no login in its archive', async () => {
    const shelf = new Shelf();
    await turn(shelf, { input: 'write a.txt', uid });
    const { gunzipSync } = await import('node:zlib');
    const text = gunzipSync(shelf.archive).toString('latin1');
    expect(text).toContain('I began.');
    expect(text).not.toContain('never kept');
  });
});

/** OpenCode as far as its sessions go: it has all of them in one file, and ends well without a word for one that it does not know. */
const OPENCODE = `
  const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
  const words = process.argv.slice(1);
  const data = require('node:os').homedir() + '/.local/share/opencode';
  mkdirSync(data, { recursive: true });
  const resumed = words.includes('--session');
  const sessionID = resumed ? words.at(-1) : 'ses_1';
  if (resumed && !existsSync(data + '/opencode.db')) {
    process.stderr.write('NotFoundError: Session not found: ' + sessionID);
    process.exit(0);
  }
  appendFileSync(data + '/opencode.db', readFileSync(0, 'utf8') + ';');
  writeFileSync(data + '/auth.json', 'never kept');
  const print = (event) => process.stdout.write(JSON.stringify({ ...event, sessionID }) + '\\n');
  print({ type: 'text', part: { text: words.join(' ') + ': ' + readFileSync(data + '/opencode.db', 'utf8') } });
  print({ type: 'step_finish', part: { reason: 'stop', cost: 0, tokens: { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } } } });
`;

describe('the session of OpenCode', () => {
  const given: Omit<Turn, 'input'> = { preset: 'opencode', command: [process.execPath, '-e', OPENCODE], uid: 'own' };
  const answer = async (shelf: Shelf, more: Turn): Promise<string | undefined> => (await start(shelf, { ...given, ...more }).ended).output;

  it('goes on by the id that its events name, with its data and without its login', async () => {
    const shelf = new Shelf();
    expect(await answer(shelf, { input: 'one' })).toBe('run --format json: one;');
    expect(await answer(shelf, { input: 'two' })).toBe('run --format json --session ses_1: one;two;');
    const { gunzipSync } = await import('node:zlib');
    expect(gunzipSync(shelf.archive).toString('latin1')).not.toContain('never kept');
  });

  it('stays in the HOME of a person, and begins again where that has it no more', async () => {
    const home = join(directory, 'person');
    const shelf = new Shelf();
    const more = { env: { HOME: home } };
    await answer(shelf, { ...more, input: 'one' });
    expect(await answer(shelf, { ...more, input: 'two' })).toBe('run --format json --session ses_1: one;two;');
    await rm(home, { recursive: true });
    const { observed, ended } = start(shelf, { ...given, ...more, input: 'three' });
    expect(await ended).toEqual({ output: 'run --format json: three;' });
    expect(observed.warnings).toEqual([expect.objectContaining({ event: 'session.not-resumed' })]);
  });
});

describe('a session that a program cannot go on with', () => {
  it.each<[string, (shelf: Shelf) => void]>([
    ['its file is gone', (shelf) => void (shelf.archive = Buffer.alloc(0))],
    ['its archive is broken', (shelf) => void (shelf.archive = shelf.archive.subarray(0, 100))],
    [
      'the program does not know it',
      (shelf) => void (shelf.note = shelf.note && { ...shelf.note, id: '11111111-2222-4333-8444-555555555555' }),
    ],
  ])('is begun again with a warning: %s', async (_title, damage) => {
    for (const [preset, command] of [
      ['claude-code', claude],
      ['codex', codex],
    ] as const) {
      const shelf = new Shelf();
      await turn(shelf, { preset, command, input: 'one', uid: 'own' });
      damage(shelf);
      const { observed, ended } = start(shelf, { preset, command, input: 'two', uid: 'own' });
      expect(JSON.parse((await ended).output ?? '')).toMatchObject({ turns: ['two'] });
      expect(observed.warnings).toEqual([expect.objectContaining({ event: 'session.not-resumed' })]);
    }
  });

  it('is that of another preset', async () => {
    const shelf = new Shelf();
    await turn(shelf, { input: 'write a.txt' });
    const { observed, ended } = start(shelf, { preset: 'codex', command: codex, input: 'two' });
    expect(JSON.parse((await ended).output ?? '')).toEqual({ turns: ['two'], files: ['a.txt'] });
    expect(observed.warnings).toEqual([]);
  });
});

describe('the session of a program', () => {
  it('is none of ours where the definition sees to it', async () => {
    const shelf = new Shelf();
    const id = '22222222-3333-4444-8555-666666666666';
    await turn(shelf, { input: 'one', command: [...claude, '--session-id', id] });
    expect(shelf.kept).toBe(0);
  });

  it('stays in a HOME that the definition names, where only its own files are taken', async () => {
    const home = join(directory, 'home');
    await mkdir(join(home, '.claude', 'projects', 'p'), { recursive: true });
    await writeFile(join(home, '.claude', 'projects', 'p', 'private.jsonl'), 'of a person');
    const shelf = new Shelf();
    const given = { env: { HOME: home }, uid: 'own' } as const;
    await turn(shelf, { ...given, input: 'one' });
    expect((await turn(shelf, { ...given, input: 'two' })).turns).toEqual(['one', 'two']);
    const { gunzipSync } = await import('node:zlib');
    expect(gunzipSync(shelf.archive).toString('latin1')).not.toContain('of a person');
  });

  it('is not kept where it cannot be, with a warning, and the answer counts', async () => {
    const shelf = new Shelf();
    shelf.isFull = true;
    const { observed, ended } = start(shelf, { input: 'one', uid: 'own' });
    expect(JSON.parse((await ended).output ?? '')).toMatchObject({ turns: ['one'] });
    expect(observed.warnings).toEqual([expect.objectContaining({ event: 'session.not-kept' })]);
  });
});
