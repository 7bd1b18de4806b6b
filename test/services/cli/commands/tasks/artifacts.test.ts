import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answer, TASK_ID } from '../../fake-api.ts';
import { useFolder } from '../../../../support/use-folder.ts';
import { type Handlers, useMuster } from '../../use-muster.ts';

const { muster } = useMuster();
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
  expect((await muster(handlers, ['artifacts', TASK_ID, '--save', save])).code).not.toBe(0);
});
