import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { judgeFiles } from '#shared/findings/kinds/surroundings.ts';
import { openArchive } from '#shared/files/object-archive.ts';
import { openFiles } from '#shared/files/open-files.ts';
import { readStorages, type StoredKind, StorageWatch } from '#shared/files/storage-watch.ts';
import type { Verdict } from '#shared/findings/inspection.ts';
import { createLog } from '#shared/log/create-log.ts';
import { useEmptyParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

const parts = await useEmptyParts({ archive: { storage: 'directory' } });
const { redis, keys, config } = parts;
const fleet = { redis, keys, settings: config.settings };
const folder = await mkdtemp(join(tmpdir(), 'muster-watch-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

let lines: { event?: string; msg?: string }[];
const started: StorageWatch[] = [];
beforeEach(() => {
  lines = [];
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((watch) => watch.stop()));
});

function keepLine(line: string): void {
  lines.push(JSON.parse(line) as { event: string });
}

/** A process that stores files, or archives old tasks, below this folder, once it has noted that or said why it cannot. */
async function startIn(name: string, kind: StoredKind = 'files'): Promise<void> {
  const log = createLog({ level: 'warn', service: 'test', destination: { write: keepLine } });
  const own = { ...config, env: { ...config.env, MUSTER_DATA_DIR: join(folder, name) } };
  const store = kind === 'files' ? openFiles({ redis, keys, config: own }) : openArchive(own);
  const watch = new StorageWatch({ redis, keys, kind, identify: async () => (await store?.identify()) ?? '', log });
  watch.start();
  started.push(watch);
  // Its first round.
  await watch.stop();
}

async function judge(): Promise<Verdict> {
  return judgeFiles(await readStorages(fleet, 'files'), await readStorages(fleet, 'archive'));
}

it('processes that store files in one place have nothing to say', async () => {
  await Promise.all([startIn('one'), startIn('one'), startIn('one')]);
  await startIn('one');
  expect(await judge()).toEqual({ findings: [], note: 'stored in one place' });
  expect(lines).toEqual([]);
});

it('a process that stores files in another place says so, and so does the doctor', async () => {
  expect(await judge()).toEqual({ findings: [], note: 'no process that stores files is running' });
  await startIn('one');
  await startIn('two');
  expect(lines).toMatchObject([{ level: 'warn', event: 'files.not-shared', msg: expect.stringContaining('in 2 places') }]);
  const [found] = (await judge()).findings;
  expect(found).toMatchObject({
    code: 'files.apart',
    text: `${lines[0]?.msg?.split(':')[0]}.`,
    helps: expect.stringContaining('files.s3'),
  });
  expect(lines[0]?.msg).toContain(`2 places (on ${hostname()})`);
});

it('a process that archives old tasks in another place says so, and files stay what they are', async () => {
  await startIn('one');
  await startIn('one', 'archive');
  await startIn('two', 'archive');
  expect(lines).toMatchObject([
    { level: 'warn', event: 'archive.not-shared', msg: expect.stringContaining('Old tasks are archived in 2 places') },
  ]);
  expect((await judge()).findings).toMatchObject([
    { code: 'files.apart', subject: 'archive', id: 'files.apart:archive', helps: expect.stringContaining('archive.dir') },
  ]);
});

it('a place that nobody has noted for a quarter of an hour is forgotten', async () => {
  await startIn('one');
  const { at } = JSON.parse((await redis.hvals(keys.fleet.fileStorages))[0] ?? '{}') as { at: number };
  await redis.hset(keys.fleet.fileStorages, 'former', JSON.stringify({ host: 'a', at: at - 900_000 }));
  expect(await readStorages(parts, 'files')).toHaveLength(1);
  expect(await redis.hkeys(keys.fleet.fileStorages)).not.toContain('former');
});

it.each([
  ['files', 'MUSTER_DATA_DIR'],
  ['archive', 'archive.dir'],
] as const)('a process whose folder for %s cannot be made says so', async (kind, setting) => {
  await writeFile(join(folder, 'in-the-way'), '');
  await startIn('in-the-way', kind);
  await waitFor(() => lines.length > 0, { deadlineMs: 5000, what: 'the warning' });
  expect(lines).toMatchObject([{ event: `${kind}.unusable`, msg: expect.stringContaining(setting) }]);
  expect(await readStorages(parts, kind)).toEqual([]);
});
