import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { KeptFiles } from '#shared/agents/command/kept/kept-files.ts';
import type { KeptPlaces } from '#shared/agents/command/kept/kept-places.ts';
import { PRESETS } from '#shared/agents/command/presets/presets.ts';
import type { CommandPreset } from '#shared/config/agent-definitions.ts';
import { unpackKept } from '#shared/agents/command/kept/unpack-kept.ts';
import { useFolder } from '../../../../support/use-folder.ts';

const directory = await useFolder('muster-kept-');
const ID = '0a1b2c3d-0000-4000-8000-000000000000';

interface Place {
  readonly work: string;
  readonly data: string;
  readonly places: (given?: Partial<KeptPlaces>) => KeptPlaces;
}

async function openPlaceOf(preset: CommandPreset = 'claude-code'): Promise<Place> {
  const top = await mkdtemp(join(directory, 'attempt-'));
  const [work, data] = [join(top, 'work'), join(top, 'home', 'data')];
  await mkdir(join(work, 'in'), { recursive: true });
  await mkdir(data, { recursive: true });
  const { names = [], files = '', place } = PRESETS[preset].session?.data ?? {};
  const session = { folder: data, names, files: files.replace('{id}', ID), place: place ? { from: place.from, to: place.to(work) } : null };
  const places = (given: Partial<KeptPlaces> = {}): KeptPlaces => ({ work, leaveOut: ['in'], session, maxBytes: 1_000_000, ...given });
  return { work, data, places };
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(await Promise.all(files.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')])));
}

async function carry(from: Place, to: Place, given: Partial<KeptPlaces> = {}): Promise<void> {
  const kept = new KeptFiles();
  await kept.list(from.places());
  await unpackKept(kept.pack(), to.places(given));
}

type Entry = Partial<Header> & { name: string; text?: string };

/** An archive as somebody else could make it. */
function archiveOf(...entries: Entry[]): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const { text = '', ...header } of entries) archive.entry(header, text);
  archive.finalize();
  return Readable.from(archive).pipe(createGzip());
}

describe('what is kept', () => {
  it('is the session by its id and the working folder, and comes into the folders of another attempt', async () => {
    const [from, to] = [await openPlaceOf(), await openPlaceOf()];
    await write(from.data, {
      [`projects/-of-before/${ID}.jsonl`]: 'said',
      [`projects/-of-before/${ID}/tool-results/1.txt`]: 'long',
      'projects/-of-before/another.jsonl': 'of somebody else',
      '.credentials.json': 'secret',
    });
    await write(from.work, { 'src/main.ts': 'code', 'in/photo.jpg': 'brought', 'run.sh': '#!/bin/sh' });
    await chmod(join(from.work, 'run.sh'), 0o755);
    await utimes(join(from.work, 'run.sh'), 1000, 1000);
    await symlink('src/main.ts', join(from.work, 'link'));
    await symlink('/etc/passwd', join(from.work, 'outward'));
    await mkdir(join(from.work, 'empty'));
    await carry(from, to);
    const project = to.work.replaceAll(/[^A-Za-z0-9]/g, '-');
    expect(await filesIn(to.data)).toEqual({
      [`projects/${project}/${ID}.jsonl`]: 'said',
      [`projects/${project}/${ID}/tool-results/1.txt`]: 'long',
    });
    expect(await filesIn(to.work)).toEqual({ 'src/main.ts': 'code', 'run.sh': '#!/bin/sh' });
    expect((await readdir(to.work)).toSorted()).toEqual(['empty', 'in', 'link', 'run.sh', 'src']);
    expect(await readlink(join(to.work, 'link'))).toBe('src/main.ts');
    const script = await lstat(join(to.work, 'run.sh'));
    expect([script.mode & 0o777, script.mtimeMs]).toEqual([0o755, 1_000_000]);
  });

  it('is the rollout of a thread, whatever else there is of Codex', async () => {
    const [from, to] = [await openPlaceOf('codex'), await openPlaceOf('codex')];
    const rollout = `sessions/2026/11/29/rollout-2026-11-29T10-00-00-${ID}.jsonl`;
    await write(from.data, {
      [rollout]: 'said',
      'sessions/2026/11/29/rollout-x.jsonl': 'other',
      'auth.json': 'secret',
      'history.jsonl': 'all',
    });
    await carry(from, to);
    expect(await filesIn(to.data)).toEqual({ [rollout]: 'said' });
  });

  it('is what OpenCode has, without its login', async () => {
    const files = { 'opencode.db': 'all', 'opencode.db-wal': 'new', 'auth.json': 'secret', 'storage/session/a.json': 'one' };
    const { 'auth.json': _secret, ...rest } = files;
    const [from, to] = [await openPlaceOf('opencode'), await openPlaceOf('opencode')];
    await write(from.data, files);
    await carry(from, to);
    expect(await filesIn(to.data)).toEqual(rest);
  });

  it('is not what git ignores, as dependencies that are installed again', async () => {
    const [from, to] = [await openPlaceOf(), await openPlaceOf()];
    const repository = join(from.work, 'repo');
    await write(repository, {
      '.gitignore': 'node_modules\n*.log\n',
      'a.ts': '1',
      'new.ts': '2',
      'node_modules/x/index.js': '3',
      'b/c.log': '4',
      'b/d': '5',
    });
    execFileSync('git', ['init', '-q'], { cwd: repository });
    execFileSync('git', ['add', 'a.ts'], { cwd: repository });
    await carry(from, to);
    const files = Object.keys(await filesIn(join(to.work, 'repo'))).filter((name) => !name.startsWith('.git/'));
    expect(files.toSorted()).toEqual(['.gitignore', 'a.ts', 'b/d', 'new.ts']);
    expect(execFileSync('git', ['status', '--short'], { cwd: join(to.work, 'repo'), encoding: 'utf8' })).toContain('A  a.ts');
  });

  it('has another digest when a file changes, and the same when nothing does', async () => {
    const place = await openPlaceOf();
    await write(place.work, { a: '1' });
    const digest = async (): Promise<string> => (await new KeptFiles().list(place.places())).digest;
    const before = await digest();
    expect(await digest()).toBe(before);
    await utimes(join(place.work, 'a'), 5, 5);
    expect(await digest()).not.toBe(before);
  });

  it('leaves out a working folder that is too large, and rejects a session that is', async () => {
    const place = await openPlaceOf();
    await write(place.data, { [`projects/p/${ID}.jsonl`]: 'x'.repeat(600) });
    await write(place.work, { big: 'x'.repeat(600) });
    const kept = new KeptFiles();
    const listing = await kept.list(place.places({ maxBytes: 1000 }));
    expect(listing).toMatchObject({ sessionFiles: 1, entries: 1, problem: 'it has more than 1000 bytes' });
    await expect(kept.list(place.places({ maxBytes: 500 }))).rejects.toThrow('the session has more than 500 bytes');
  });

  it('cannot be packed when a file of the session changes meanwhile, or a file becomes shorter', async () => {
    const place = await openPlaceOf();
    const file = join(place.data, `projects/p/${ID}.jsonl`);
    await write(place.data, { [`projects/p/${ID}.jsonl`]: 'one line\n' });
    await write(place.work, { a: 'x'.repeat(1000) });
    const kept = new KeptFiles();
    const readAll = (): Promise<Buffer> => buffer(kept.pack());
    await kept.list(place.places());
    await readAll();
    await writeFile(file, 'one line\nhalf', { flag: 'a' });
    await expect(readAll()).rejects.toThrow('changed while it was packed');
    await kept.list(place.places());
    await truncate(join(place.work, 'a'), 10);
    await expect(readAll()).rejects.toThrow('Size mismatch');
  });
});

describe('an archive that a program could have made', () => {
  it.each<[string, Entry]>([
    ['a path that leads upward', { name: 'work/../../outside', text: 'x' }],
    ['a path from the root', { name: '/tmp/outside', text: 'x' }],
    ['an empty part', { name: 'work//x', text: 'x' }],
    ['more bytes than it may', { name: 'work/large', text: 'x'.repeat(1001) }],
  ])('is refused with %s', async (_title, entry) => {
    const place = await openPlaceOf();
    await expect(unpackKept(archiveOf(entry), place.places({ maxBytes: 1000 }))).rejects.toThrow('it has');
    expect(await filesIn(place.work)).toEqual({});
  });

  it('writes nothing through a link, and makes none that leads outside', async () => {
    const [place, outside] = [await openPlaceOf(), await mkdtemp(join(directory, 'outside-'))];
    await unpackKept(
      archiveOf(
        { name: 'work/away', type: 'symlink', linkname: outside },
        { name: 'work/up', type: 'symlink', linkname: '../..' },
        { name: 'work/hard', type: 'link', linkname: '/etc/passwd' },
        { name: 'work/fifo', type: 'fifo' },
        { name: 'work/inner', type: 'symlink', linkname: 'folder' },
        { name: 'work/inner/x', text: 'written' },
        { name: 'work/folder/y', text: 'y' },
      ),
      place.places(),
    );
    expect(await readdir(outside)).toEqual([]);
    expect((await readdir(place.work)).toSorted()).toEqual(['folder', 'in', 'inner']);
    expect(await filesIn(place.work)).toEqual({ 'folder/y': 'y', 'inner/x': 'written' });
  });

  it('makes no link below another one', async () => {
    const place = await openPlaceOf();
    const entries: Entry[] = [
      { name: 'work/here', type: 'symlink', linkname: '.' },
      { name: 'work/here/sub/l', type: 'symlink', linkname: '../../in' },
    ];
    await expect(unpackKept(archiveOf(...entries), place.places())).rejects.toThrow('"here" is no folder');
  });

  it('brings no file of another session, and none beside sessions', async () => {
    const place = await openPlaceOf();
    await unpackKept(
      archiveOf(
        { name: 'session/settings.json', text: '{"hooks":{}}' },
        { name: 'session/projects/p/another.jsonl', text: 'x' },
        { name: `session/projects/p/${ID}.jsonl`, text: 'said' },
        { name: 'home/.profile', text: 'x' },
      ),
      place.places(),
    );
    const [file] = Object.keys(await filesIn(place.data));
    expect(Object.values(await filesIn(place.data))).toEqual(['said']);
    expect(file).toContain(`${ID}.jsonl`);
  });

  it('is refused when it is none, or only half of one', async () => {
    const place = await openPlaceOf();
    const half = (await buffer(archiveOf({ name: 'work/a', text: 'x'.repeat(5000) }))).subarray(0, 60);
    await expect(unpackKept(Readable.from([half]), place.places())).rejects.toThrow('unexpected end of file');
    await expect(unpackKept(Readable.from([Buffer.from('no archive')]), place.places())).rejects.toThrow('incorrect header check');
  });

  it('keeps what a program has written of its session since, in a HOME that several runs use', async () => {
    const place = await openPlaceOf('codex');
    const rollout = `sessions/2026/rollout-${ID}.jsonl`;
    await write(place.data, { [rollout]: 'one\ntwo\n' });
    await unpackKept(archiveOf({ name: `session/${rollout}`, text: 'one\n' }), place.places());
    expect(await filesIn(place.data)).toEqual({ [rollout]: 'one\ntwo\n' });
    await rm(join(place.data, rollout));
    await unpackKept(archiveOf({ name: `session/${rollout}`, text: 'one\n' }), place.places());
    expect(await filesIn(place.data)).toEqual({ [rollout]: 'one\n' });
  });
});
