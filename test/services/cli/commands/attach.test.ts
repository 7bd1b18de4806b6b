import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useFolder } from '../../../support/use-folder.ts';
import { answer, TASK_ID } from '../fake-api.ts';
import { type Handlers, useMuster } from '../use-muster.ts';

const { muster, sent, api } = useMuster();
const folder = await useFolder();
const photo = join(folder, 'a photo.JPG');
const notes = join(folder, 'notes.txt');

/** Gives each upload an id of its own. */
function uploads(): Handlers {
  let count = 0;
  return { 'POST /v1/uploads': (response) => answer(response, 201, { id: `${(count += 1)}`.repeat(32) }) };
}

it('uploads each file with its name and type, and gives the uploads to the task in order', async () => {
  await Promise.all([writeFile(photo, 'pixels'), writeFile(notes, 'words')]);

  const { code, stdout } = await muster(uploads(), ['send', 'Look', '--attach', photo, '--attach', notes, '--no-wait']);

  expect([code, stdout]).toEqual([0, `${TASK_ID}\n`]);
  expect(api().requests.slice(0, 2)).toMatchObject([
    { path: '/v1/uploads?name=a+photo.JPG', body: 'pixels', headers: { 'content-type': 'image/jpeg', 'content-length': '6' } },
    { path: '/v1/uploads?name=notes.txt', body: 'words', headers: { 'content-type': 'text/plain' } },
  ]);
  expect(sent(2)).toMatchObject({ input: 'Look', attachments: [{ uploadId: '1'.repeat(32) }, { uploadId: '2'.repeat(32) }] });
});

it('uploads nothing and sends no task when a file is missing or a folder', async () => {
  await writeFile(notes, 'words');
  const missing = join(folder, 'missing.txt');
  const inner = join(folder, 'inner');
  await mkdir(inner, { recursive: true });

  const results = [
    await muster(uploads(), ['send', 'Look', '--attach', notes, '--attach', missing]),
    await muster(uploads(), ['send', 'Look', '--attach', inner]),
  ];

  expect(results.map(({ code }) => code)).toEqual([2, 2]);
  expect(results[0]?.stderr).toContain(`Cannot attach ${missing}: there is no such file`);
  expect(results[1]?.stderr).toContain(`Cannot attach ${inner}: it is a folder`);
  expect(api().requests).toEqual([]);
});

it('names the file that the server refuses as too large, and sends no task', async () => {
  await writeFile(notes, 'words');
  const detail = 'expected a file of at most 4 bytes';
  const handlers: Handlers = { 'POST /v1/uploads': (response) => answer(response, 413, { code: 'request.too-large', detail }) };

  const { code, stderr } = await muster(handlers, ['send', 'Look', '--attach', notes]);

  expect(code).toBe(2);
  expect(stderr).toContain(`${notes} is too large with 5 bytes: ${detail}`);
  expect(api().requests.map(({ path }) => path)).toEqual(['/v1/uploads?name=notes.txt']);
});
