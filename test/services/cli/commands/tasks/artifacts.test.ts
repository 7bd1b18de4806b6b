import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answer, startFakeApi, TASK_ID } from '../../fake-api.ts';
import { startMuster } from '../../run-muster.ts';
import { useFolder } from '../../../../support/use-folder.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';

const { api, muster } = useMuster();
const folder = await useFolder();

const PATH = `/v1/tasks/${TASK_ID}/artifacts`;
const ITEM = { name: 'a.txt', mediaType: 'text/plain', bytes: 7, attempt: 1, createdAt: '2026-05-01T09:00:04.000Z' };
const handlers: Handlers = {
  [`GET ${PATH}`]: (response) => answer(response, 200, { items: [ITEM], nextCursor: null }),
  [`GET ${PATH}/a.txt`]: (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('content'),
};

it('lists the files that a task made', async () => {
  const { code, stdout } = await muster(handlers, ['artifacts', TASK_ID]);
  expect([code, stdout.split('\n')[1]]).toEqual([0, 'a.txt  text/plain  7      1']);
});

it('saves them into a folder, and replaces no file there', async () => {
  const save = join(folder, 'saved');
  expect((await muster(handlers, ['artifacts', TASK_ID, '--save', save])).code).toBe(0);
  expect(await readFile(join(save, 'a.txt'), 'utf8')).toBe('content');
  const { code, stderr } = await muster(handlers, ['artifacts', TASK_ID, '--save', save]);
  expect([code, stderr]).toEqual([
    2,
    `muster: Files that are there already are kept. Move them away, or name another folder with --save: [file.exists]\n  ${save}/a.txt\n`,
  ]);
  expect(api().requests.map(({ path }) => path)).toEqual([PATH]);
});

it('leaves no part of files behind when one breaks off, so that the same command can be repeated', async () => {
  const save = join(folder, 'cut');
  const names = ['a.txt', 'b.txt', 'c.txt'];
  let isCut = true;
  const three: Handlers = {
    [`GET ${PATH}`]: (response) => answer(response, 200, { items: names.map((name) => ({ ...ITEM, name })), nextCursor: null }),
    [`GET ${PATH}/a.txt`]: (response) => void response.end('content'),
    [`GET ${PATH}/b.txt`]: (response) => {
      response.writeHead(200, { 'content-length': '7' });
      if (isCut) response.write('con', () => response.destroy());
      else response.end('content');
    },
    [`GET ${PATH}/c.txt`]: (response) => void response.end('content'),
  };
  const command = ['artifacts', TASK_ID, '--save', save];
  expect(await muster(three, command)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^muster: b\.txt could not be saved: /) });
  expect(await readdir(save)).toEqual([]);
  isCut = false;
  expect((await muster(three, command)).stderr).toBe(names.map((name) => `Saved ${join(save, name)}\n`).join(''));
  expect(await Promise.all([readdir(save), readFile(join(save, 'b.txt'), 'utf8')])).toEqual([names, 'content']);
});

it('leaves no folder of parts behind when Ctrl-C comes in the middle, also twice as from npx', async () => {
  const save = join(folder, 'interrupted');
  const server = await startFakeApi({
    ...handlers,
    [`GET ${PATH}/a.txt`]: (response) => {
      response.writeHead(200, { 'content-length': '7' });
      response.write('con');
    },
  });
  try {
    const { child, ended } = startMuster(['artifacts', TASK_ID, '--save', save], { env: { MUSTER_URL: server.url, MUSTER_API_KEY: 'k' } });
    const saved = (): Promise<string[]> => readdir(save, { recursive: true });
    await waitFor(async () => (await saved()).some((path) => path.endsWith('/0')), { deadlineMs: 20_000, what: 'a part of the file' });
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stderr: expect.stringContaining('Nothing was saved') });
    expect(await saved()).toEqual([]);
  } finally {
    await server.close();
  }
});
