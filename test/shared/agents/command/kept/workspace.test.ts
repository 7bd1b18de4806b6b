import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DefinitionOf } from '#shared/agents/agent-kind.ts';
import { checkCommand, openCommandRunner } from '#shared/agents/index.ts';
import { agentDefinitionSchema } from '#shared/config/agent-definitions.ts';
import { commandSettingsSchema } from '#shared/config/settings/worker-settings.ts';
import { Shelf } from '../../../../support/agents/coding/shelf.ts';
import { failureOf, observeRun } from '../../../../support/agents/agent-run.ts';
import { textOf } from '../../../../support/agents/output-text.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-workspaces-');
const folder = join(directory, 'attempts');
const origin = join(directory, 'origin');
await chmod(directory, 0o711);
await mkdir(folder, { mode: 0o755 });
await mkdir(origin, { mode: 0o755 });

/** As root, programs have users of their own besides. */
const USERS = process.getuid?.() === 0 ? (['own', undefined] as const) : (['own'] as const);

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: origin, encoding: 'utf8' }).trim();
let first = '';

beforeAll(async () => {
  git('init', '-q', '-b', 'trunk');
  await writeFile(join(origin, 'a.txt'), 'one\n');
  await writeFile(join(origin, '.gitignore'), 'modules\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  first = git('rev-parse', 'HEAD');
  await writeFile(join(origin, 'a.txt'), 'two\n');
  git('commit', '-q', '-a', '-m', 'second');
  git('branch', 'side', first);
});

const isValid = (given: object): boolean => agentDefinitionSchema.safeParse({ kind: 'command', command: ['true'], ...given }).success;

type Given = Partial<DefinitionOf<'command'>> & { uid?: 'own' | undefined };

interface Ran {
  readonly text: string;
  readonly artifacts: Record<string, string>;
}

async function run(script: string, shelf: Shelf, { uid, ...definition }: Given): Promise<Ran> {
  const runner = openCommandRunner({
    directory,
    readSecret: (name) => childEnvironment()[name],
    fleetId: () => Promise.resolve('f'),
    commands: commandSettingsSchema.parse({ folder, pollMs: 50, killGraceMs: 100, ...(uid && { uid, sharedUser: true }) }),
  });
  const observed = observeRun<'command'>({ kind: 'command', command: ['sh', '-c', script], ...definition });
  const artifacts: Record<string, string> = {};
  const files = {
    bringIn: (into: string) => writeFile(join(into, 'brought.txt'), 'brought'),
    takeOut: async ({ files: left }: { files: readonly { name: string; read: () => AsyncGenerator<Uint8Array> }[] }) => {
      for (const file of left) artifacts[file.name] = await textOf(file);
    },
  };
  await runner({ ...observed.run, sessions: shelf.sessions, files });
  return { text: observed.written.join(''), artifacts };
}

describe.each(USERS)('a workspace, with commands.uid %s', (uid) => {
  it('is a checkout that goes on with each run, and says what was changed in it', async () => {
    const shelf = new Shelf();
    const given = { workspace: { git: 'origin' }, uid } as const;
    const script = `git log --format=%s; cat a.txt; echo three >> a.txt; echo new > b.txt; mkdir modules; echo big > modules/x
      git add a.txt; git commit -q -m third; basename "$PWD"; cat "$MUSTER_IN_DIR/brought.txt"; echo made > "$MUSTER_OUT_DIR/made.txt"`;
    const { text, artifacts } = await run(script, shelf, given);
    expect(text).toBe('second\nfirst\ntwo\nworkspace\nbrought');
    expect(artifacts).toEqual({ 'made.txt': 'made\n' });
    expect(shelf.note?.changes?.split('\n')).toEqual([
      expect.stringMatching(/^ a\.txt \| 1 \+$/),
      expect.stringMatching(/^ b\.txt \| 1 \+$/),
      ' 2 files changed, 2 insertions(+)',
    ]);
    const again = await run('git status --short --branch; git log -1 --format=%s%an; cat a.txt b.txt; ls', shelf, given);
    expect(again.text).toBe('## trunk...origin/trunk [ahead 1]\n?? b.txt\nthirdtested\ntwo\nthree\nnew\na.txt\nb.txt\n');
    expect(await readFile(join(origin, 'a.txt'), 'utf8')).toBe('two\n');
  });
});

describe('a workspace that begins', () => {
  const uid = 'own';

  it('is that of a branch, or of a commit', async () => {
    for (const ref of ['side', first]) {
      const { text } = await run('cat a.txt; git log --format=%s', new Shelf(), { workspace: { git: origin, ref }, uid });
      expect(text).toBe('one\nfirst\n');
    }
  });

  it('is a copy of a folder', async () => {
    const template = join(directory, 'template');
    await mkdir(template, { recursive: true, mode: 0o755 });
    await writeFile(join(template, 'start.txt'), 'start');
    const shelf = new Shelf();
    const given = { workspace: { path: 'template' }, uid } as const;
    expect((await run('ls; echo more > more.txt', shelf, given)).text).toBe('start.txt\n');
    expect((await run('ls', shelf, given)).text).toBe('more.txt\nstart.txt\n');
    expect(shelf.note).toMatchObject({ id: null, changes: null });
  });

  it('is empty at first', async () => {
    const shelf = new Shelf();
    const given = { workspace: { keep: true }, uid } as const;
    await run('echo 1 >> count', shelf, given);
    expect((await run('echo 2 >> count; cat count', shelf, given)).text).toBe('1\n2\n');
  });
});

describe('a workspace', () => {
  it('that cannot be made fails the attempt, with what git said', async () => {
    const failure = await failureOf(run('true', new Shelf(), { workspace: { git: origin, ref: 'no-such-branch' }, uid: 'own' }));
    expect(failure).toMatchObject({
      code: 'COMMAND_FAILED',
      message: expect.stringMatching(/^The workspace could not be made: .*no-such-branch/),
    });
  });

  it('of a program that removed its repository is kept without changes', async () => {
    const shelf = new Shelf();
    await run('rm -rf .git; echo x > x', shelf, { workspace: { git: origin }, uid: 'own' });
    expect(shelf.note).toMatchObject({ changes: null });
    expect((await run('ls', shelf, { workspace: { git: origin }, uid: 'own' })).text).toBe('a.txt\nx\n');
  });

  it('begins again where it was too large to be kept', async () => {
    const shelf = new Shelf();
    await run('head -c 80000000 /dev/zero > zeros', shelf, { workspace: { git: origin }, uid: 'own' });
    expect((await run('ls', shelf, { workspace: { git: origin }, uid: 'own' })).text).toBe('a.txt\n');
  });

  it('is none beside a cwd, and has nothing that git reads as an option', () => {
    expect(isValid({ workspace: { git: 'https://example.com/a.git', ref: 'main' } })).toBe(true);
    expect(isValid({ workspace: { keep: true }, cwd: '.' })).toBe(false);
    expect(isValid({ workspace: { git: '--upload-pack=sh' } })).toBe(false);
    expect(isValid({ workspace: { git: 'a', ref: '-x' } })).toBe(false);
    expect(isValid({ workspace: {} })).toBe(false);
  });

  it('is checked when the fleet starts', async () => {
    const environment = { directory, readSecret: (name: string) => childEnvironment()[name] };
    const check = (workspace: NonNullable<DefinitionOf<'command'>['workspace']>): Promise<void> =>
      checkCommand({ kind: 'command', command: ['sh'], workspace }, environment);
    await expect(check({ git: 'nowhere' })).rejects.toThrow('for the workspace');
    await expect(check({ path: 'nowhere' })).rejects.toThrow('for the workspace');
    await check({ git: 'origin' });
    await check({ git: 'git@example.com:a/b.git' });
    await expect(
      checkCommand({ kind: 'command', command: ['/bin/sh'], env: { PATH: '/nowhere' }, workspace: { git: 'origin' } }, environment),
    ).rejects.toThrow('"git" is not found');
  });
});
