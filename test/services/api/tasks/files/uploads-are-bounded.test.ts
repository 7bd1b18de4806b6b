import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { waitFor } from '../../../../support/wait-for.ts';
import { useApi } from '../../support/use-api.ts';

const MAX_FILE_BYTES = 1_000_000;
const FORM_TYPE = 'multipart/form-data; boundary=limit';
const HEAD = '--limit\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
const END = '\r\n--limit--\r\n';

const api = await useApi({ files: { maxFileBytes: MAX_FILE_BYTES, maxTransfers: 1 } });

async function upload(body: string): Promise<number> {
  const headers = { authorization: `Bearer ${api.key}` };
  const response = await fetch(`${api.url}/v1/uploads`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

function beginForm(): ClientRequest {
  const headers = { authorization: `Bearer ${api.key}`, 'content-type': FORM_TYPE };
  const form = request(`${api.url}/v1/uploads`, { method: 'POST', headers });
  form.write(HEAD);
  return form;
}

async function hasArrivingFile(): Promise<boolean> {
  const { env, settings } = api.parts.config;
  const folder = resolve(env.MUSTER_DATA_DIR, settings.files.dir, 'arriving');
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.some((size) => size > 0);
}

it('a form whose file is under way counts among the transfers, and its file is not kept in memory until it is there', async () => {
  const form = beginForm();
  form.write('x'.repeat(200_000));
  await waitFor(hasArrivingFile, { deadlineMs: 5000, what: 'the beginning of the file to be on the disk' });
  expect(await upload('other')).toBe(429);
  form.end(`last${END}`);
  const [answer] = (await once(form, 'response')) as [IncomingMessage];
  expect([answer.statusCode, await json(answer)]).toMatchObject([201, { name: 'a.bin', bytes: 200_004 }]);
  expect(await upload('other')).toBe(201);
});

it('a form that finds no room for its file is refused before it has come in full', async () => {
  const forms = [beginForm(), beginForm()];
  for (const form of forms) form.on('error', () => undefined).write('begins');
  const [answer] = (await Promise.race(forms.map((form) => once(form, 'response')))) as [IncomingMessage];
  expect([answer.statusCode, await json(answer)]).toMatchObject([429, { code: 'limit.bodies' }]);
  for (const form of forms) form.destroy();
  await waitFor(async () => (await upload('other')) === 201, { deadlineMs: 5000, what: 'the transfer to end' });
});

/** As one chunk of a body. */
const chunk = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`;

it.each([
  ['file', 'text/plain', ''],
  ['form', FORM_TYPE, HEAD],
])('a %s that is too large is refused so that its sender can read why after all that it sends', async (_what, type, head) => {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const headers = `Host: a\r\nAuthorization: Bearer ${api.key}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked`;
  socket.write(`POST /v1/uploads HTTP/1.1\r\n${headers}\r\n\r\n`);
  if (head !== '') socket.write(chunk(head));
  for (let sent = 0; sent < 20; sent += 1) if (!socket.write(chunk('x'.repeat(MAX_FILE_BYTES)))) await once(socket, 'drain');
  socket.write('0\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 413 [\s\S]*"request.too-large"/);
  socket.destroy();
});
