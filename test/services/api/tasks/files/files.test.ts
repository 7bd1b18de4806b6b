import { Readable } from 'node:stream';
import { createHash, randomBytes } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { SignInStore } from '#shared/tenants/sign-in-store.ts';
import { closeAfterTests } from '../../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../../support/fake-http-endpoint.ts';
import { useWorker } from '../../../../support/use-worker.ts';
import { useApi } from '../../support/use-api.ts';

const MAX_FILE_BYTES = 100_000;

/** Answers with what it was given, and keeps it as an artifact under the name that the task names. */
const copies: AgentFunction = async (task, { attachments, attach }) => {
  const read = await Promise.all(
    attachments.map(async ({ name, mediaType, stream }) => `${name} ${mediaType} ${await readText(await stream())}`),
  );
  await attach(task.input, read.join('\n'));
  return { output: read.join('\n') };
};

const attachesTwice: AgentFunction = async (_task, { attach }) => {
  await attach('result.txt', 'first');
  await attach('result.txt', new TextEncoder().encode('second'), 'text/x-own');
  await attach('large.bin', Buffer.alloc(MAX_FILE_BYTES + 1)).catch((error: { code?: string }) => attach('failure.txt', error.code ?? ''));
};

const waits: AgentFunction = async (_task, { signal }) => {
  await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
};

const tools = closeAfterTests(
  await startFakeHttpEndpoint((response, request) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/files/data.csv' }).end();
    else if (request.url === '/files/data.csv') response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end('a,b\n1,2\n');
    else if (request.url === '/large') response.writeHead(200).end(Buffer.alloc(MAX_FILE_BYTES + 1));
    else if (request.url === '/agent') response.writeHead(200, { 'content-type': 'application/json' }).end('{"output":"done"}');
    else response.writeHead(404).end();
  }),
);

const api = await useApi({
  agents: {
    echo: { kind: 'echo' },
    copies: { kind: 'function', run: copies },
    twice: { kind: 'function', run: attachesTwice },
    waits: { kind: 'function', run: waits },
    away: { kind: 'http', url: `${tools.url}/agent` },
    shell: {
      kind: 'command',
      command: ['sh', '-c', 'cat in/*; mkdir out/deep; tr a-z A-Z < in/note.txt > out/deep/loud.txt; ln -s /etc/passwd out/link'],
    },
  },
  files: {
    maxFileBytes: MAX_FILE_BYTES,
    maxVisitorFileBytes: 20,
    maxPerTask: 3,
    maxBytesPerTask: 150_000,
    maxPerTenant: 40,
    uploadMs: 60_000,
  },
  outbound: { allowNetworks: ['127.0.0.1'] },
});
await useWorker(api.parts);

async function upload(body: string | Uint8Array, { name = 'note.txt', type = 'text/plain', key = api.key } = {}): Promise<Response> {
  return await fetch(`${api.url}/v1/uploads?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: Buffer.from(body),
  });
}

async function uploadId(body: string, options?: Parameters<typeof upload>[1]): Promise<string> {
  const { id } = (await (await upload(body, options)).json()) as { id: string };
  return id;
}

async function run(body: Record<string, unknown>): Promise<{ id: string; status: string; output: string; error: { code: string } }> {
  const { body: task } = await api.call('POST', '/v1/tasks?waitMs=20000', { body: { execution: { maxAttempts: 1 }, ...body } });
  return task;
}

async function download(path: string, key = api.key): Promise<Response> {
  return await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
}

const failureOf = async (url: string): Promise<string> => (await run({ agent: 'copies', input: 'x', attachments: [{ url }] })).error.code;
const pathOf = (url: string): string => new URL(url).pathname;
const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

const sendForm = async (...files: [name: string, content: string][]): Promise<Response> => {
  const form = new FormData();
  for (const [name, content] of files) form.append('file', new Blob([content], { type: 'text/csv' }), name);
  const headers = { authorization: `Bearer ${api.key}` };
  return await fetch(`${api.url}/v1/uploads`, { method: 'POST', headers, body: form });
};

describe('an upload', () => {
  it('may be a form with one file, as browsers send it', async () => {
    const answer = await sendForm(['../list.csv', 'a,b']);
    const body = (await answer.json()) as { id: string };
    expect([answer.status, body]).toMatchObject([201, { name: 'list.csv', mediaType: 'text/csv', bytes: 3 }]);
    expect((await run({ agent: 'copies', input: 'copy', attachments: [{ uploadId: body.id }] })).output).toBe('list.csv text/csv a,b');
    expect((await sendForm()).status).toBe(422);
    expect((await sendForm(['a', '1'], ['b', '2'])).status).toBe(422);
    expect((await sendForm(['large', 'x'.repeat(MAX_FILE_BYTES + 1)])).status).toBe(413);
    expect((await upload('no form', { type: 'multipart/form-data; boundary=x' })).status).toBe(400);
  });

  it('is answered with what it is once it is stored', async () => {
    const response = await upload('hello', { name: '../../no\u202Ete.txt', type: 'Text/Plain; charset=utf-8' });
    expect(response.status).toBe(201);
    const body = (await response.json()) as Record<string, string>;
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'note.txt',
      mediaType: 'text/plain',
      bytes: 5,
      expiresAt: expect.any(String),
    });
    expect(Date.parse(body['expiresAt'] ?? '') - Date.now()).toBeGreaterThan(30_000);
  });

  it('is refused when it is larger than a file may be, announced or not', async () => {
    expect((await upload(Buffer.alloc(MAX_FILE_BYTES + 1))).status).toBe(413);
    const streamed = await fetch(`${api.url}/v1/uploads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.key}` },
      body: new Blob([Buffer.alloc(MAX_FILE_BYTES + 1)]).stream(),
      duplex: 'half',
    });
    expect([streamed.status, ((await streamed.json()) as { code: string }).code]).toEqual([413, 'request.too-large']);
  });

  it('is refused without a key, and for a key that may only read', async () => {
    expect((await fetch(`${api.url}/v1/uploads`, { method: 'POST', body: 'x' })).status).toBe(401);
    expect((await upload('x', { key: await api.keyOf('default', ['read']) })).status).toBe(403);
  });
});

describe('a browser that is signed in', () => {
  it('sends a file, or a form with one, and a message with it; another site cannot', async () => {
    const id = await new SignInStore({ ...api.parts, lifetimeMs: 60_000 }).open({ key: digest(Buffer.from(api.key)) });
    const send = async (path: string, body: string | FormData, headers: Record<string, string>): Promise<Response> =>
      await fetch(`${api.url}${path}`, { method: 'POST', headers: { cookie: `muster_session=${id}`, ...headers }, body });
    const own = { 'sec-fetch-site': 'same-origin' };
    const form = new FormData();
    form.append('file', new Blob(['in a form'], { type: 'text/plain' }), 'form.txt');
    const path = '/v1/sessions/browser-1/uploads';
    const sent = [await send(`${path}?name=raw.txt`, 'as it is', { ...own, 'content-type': 'text/plain' }), await send(path, form, own)];
    expect(sent.map(({ status }) => status)).toEqual([201, 201]);
    const uploads = (await Promise.all(sent.map((response) => response.json()))) as { id: string; name: string }[];
    expect(uploads.map(({ name }) => name)).toEqual(['raw.txt', 'form.txt']);
    const attachments = uploads.map(({ id: file }) => ({ uploadId: file }));
    const message = JSON.stringify({ text: 'kept.txt', agent: 'copies', attachments });
    const accepted = await send('/v1/sessions/browser-1/messages', message, { ...own, 'content-type': 'application/json' });
    const { id: task } = (await accepted.json()) as { id: string };
    await expect
      .poll(async () => (await api.call('GET', `/v1/tasks/${task}`)).body.output, { timeout: 10_000 })
      .toBe('raw.txt text/plain as it is\nform.txt text/plain in a form');
    const large = await send('/v1/uploads', 'x'.repeat(MAX_FILE_BYTES + 1), own);
    expect([large.status, ((await large.json()) as { code: string }).code]).toEqual([413, 'request.too-large']);
    const foreign = await send('/v1/uploads', 'x', { 'sec-fetch-site': 'cross-site' });
    expect([foreign.status, ((await foreign.json()) as { code: string }).code]).toEqual([403, 'auth.csrf']);
  });
});

async function visitorOf(session: string): Promise<string> {
  return String((await api.call('POST', `/v1/sessions/${session}/visitors`, { body: {} })).body.token);
}

async function uploadInto(session: string, key: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return await fetch(`${api.url}/v1/sessions/${session}/uploads?name=note.txt`, { method: 'POST', headers, body });
}

describe('a visitor', () => {
  it('sends files into its own session, within their bound', async () => {
    const key = await visitorOf('salon');
    const sent = await uploadInto('salon', key, 'hello');
    expect(sent.status).toBe(201);
    const { id } = (await sent.json()) as { id: string };
    const said = await api.call('POST', '/v1/sessions/salon/messages', { key, body: { text: 'read it', attachments: [{ uploadId: id }] } });
    expect(said.status).toBe(202);
    expect((await api.call('GET', `/v1/tasks/${said.body.id}`)).body.attachments).toMatchObject([{ name: 'note.txt', bytes: 5 }]);
    expect((await uploadInto('salon', key, 'x'.repeat(21))).status).toBe(413);
    expect((await uploadInto('attic', key, 'hello')).status).toBe(403);
    for (const foreign of [
      await uploadId('of the tenant'),
      ((await (await uploadInto('attic', await visitorOf('attic'), 'x')).json()) as { id: string }).id,
    ]) {
      const body = { text: 'read it', attachments: [{ uploadId: foreign }] };
      const refused = await api.call('POST', '/v1/sessions/salon/messages', { key, body });
      expect([refused.status, refused.body.code]).toEqual([422, 'upload.not-found']);
    }
    const byUrl = { text: 'x', attachments: [{ url: 'https://example.com/a.txt' }] };
    expect((await api.call('POST', '/v1/sessions/salon/messages', { key, body: byUrl })).status).toBe(403);
  });
});

describe('attachments of a task', () => {
  it('reach its agent, and the artifact that it makes can be downloaded', async () => {
    const first = await uploadId('one');
    const second = await uploadId('two', { name: 'note.txt', type: 'text/markdown' });
    const task = await run({
      agent: 'copies',
      input: 'copy.txt',
      attachments: [{ uploadId: first }, { uploadId: second, mediaType: 'text/x-b' }],
    });
    expect(task.output).toBe('note.txt text/plain one\nnote-2.txt text/x-b two');
    const { body: record } = await api.call('GET', `/v1/tasks/${task.id}`);
    expect(record.attachments).toEqual([
      { name: 'note.txt', mediaType: 'text/plain', bytes: 3, uploadId: first, url: null },
      { name: 'note-2.txt', mediaType: 'text/x-b', bytes: 3, uploadId: second, url: null },
    ]);
    const { body: list } = await api.call('GET', `/v1/tasks/${task.id}/artifacts`);
    expect(list.items).toEqual([{ name: 'copy.txt', mediaType: 'text/plain', bytes: 47, attempt: 1, createdAt: expect.any(String) }]);
    const artifact = await download(`/v1/tasks/${task.id}/artifacts/copy.txt`);
    expect(await artifact.text()).toBe(task.output);
    expect(Object.fromEntries(artifact.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '47',
      'content-disposition': `attachment; filename="copy.txt"; filename*=UTF-8''copy.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
    expect(await (await download(`/v1/tasks/${task.id}/attachments/note-2.txt`)).text()).toBe('two');
  });

  it('are fetched from an address, over a redirect, with the media type that its server says', async () => {
    const task = await run({ agent: 'copies', input: 'x', attachments: [{ url: `${tools.url}/moved`, name: 'data.csv' }] });
    expect(task.output).toBe('data.csv text/csv a,b\n1,2\n');
    expect(await (await download(`/v1/tasks/${task.id}/attachments/data.csv`)).text()).toBe('a,b\n1,2\n');
  });

  it('fail the attempt with a code when their address is not there, not public, or leads to too much', async () => {
    expect(await failureOf(`${tools.url}/missing`)).toBe('RESOURCE_NOT_FOUND');
    expect(await failureOf('http://169.254.169.254/latest')).toBe('PERMISSION_DENIED');
    expect(await failureOf(`${tools.url}/large`)).toBe('INVALID_INPUT');
    expect(await failureOf('http://127.0.0.1:1/closed')).toBe('FILES_UNAVAILABLE');
  });

  it("are refused when the upload is unknown, another tenant's, or they are too many or too large", async () => {
    const submit = (attachments: unknown[]) => api.call('POST', '/v1/tasks', { body: { agent: 'echo', input: 'x', attachments } });
    expect((await submit([{ uploadId: '0'.repeat(32) }])).body.code).toBe('upload.not-found');
    await api.call('POST', '/v1/tenants', { body: { id: 'other' } });
    const foreign = await uploadId('secret', { key: await api.keyOf('other', ['submit']) });
    expect((await submit([{ uploadId: foreign }])).body.code).toBe('upload.not-found');
    const own = await uploadId('x');
    expect((await submit(Array.from({ length: 4 }, () => ({ uploadId: own })))).body.code).toBe('request.too-large');
    const large = await uploadId('y'.repeat(80_000));
    expect((await submit([{ uploadId: large }, { uploadId: large }])).body.code).toBe('request.too-large');
    expect((await submit([{ uploadId: own, url: 'https://a.example/b' }])).body.code).toBe('request.invalid');
  });

  it('are the same task when the request is repeated under its key', async () => {
    const request = {
      body: { agent: 'copies', input: 'x', attachments: [{ uploadId: await uploadId('once') }] },
      headers: { 'idempotency-key': 'files-1' },
    };
    const first = await api.call('POST', '/v1/tasks', request);
    const again = await api.call('POST', '/v1/tasks', request);
    expect([first.status, again.status, again.body.id]).toEqual([202, 200, first.body.id]);
  });

  it('of a message go into its session', async () => {
    const attachments = [{ uploadId: await uploadId('hello') }];
    const { body } = await api.call('POST', '/v1/sessions/files-1/messages', { body: { text: 'kept.txt', agent: 'copies', attachments } });
    await expect
      .poll(async () => (await api.call('GET', `/v1/tasks/${body.id}`)).body.output, { timeout: 10_000 })
      .toBe('note.txt text/plain hello');
  });
});

describe('artifacts', () => {
  it('of one name are replaced, and more than a file may have is an error of the agent', async () => {
    const { id } = await run({ agent: 'twice', input: 'x' });
    const { body } = await api.call('GET', `/v1/tasks/${id}/artifacts`);
    expect(body.items.map(({ name, mediaType }: { name: string; mediaType: string }) => [name, mediaType])).toEqual([
      ['failure.txt', 'text/plain'],
      ['result.txt', 'text/x-own'],
    ]);
    expect(await (await download(`/v1/tasks/${id}/artifacts/result.txt`)).text()).toBe('second');
    expect(await (await download(`/v1/tasks/${id}/artifacts/failure.txt`)).text()).toBe('OUTPUT_TOO_LARGE');
  });

  it('of a program are the files in its folder out, and its attachments are in its folder in', async () => {
    const task = await run({ agent: 'shell', input: 'x', attachments: [{ uploadId: await uploadId('shout') }] });
    expect(task.output).toBe('shout');
    expect(await (await download(`/v1/tasks/${task.id}/artifacts/deep-loud.txt`)).text()).toBe('SHOUT');
    expect((await api.call('GET', `/v1/tasks/${task.id}/artifacts`)).body.items).toHaveLength(1);
  });

  it('are not there for another tenant, under another name, or of a task that is not', async () => {
    const { id } = await run({ agent: 'copies', input: 'own.txt' });
    const other = await api.keyOf('other', ['admin']);
    expect((await download(`/v1/tasks/${id}/artifacts/own.txt`, other)).status).toBe(404);
    expect((await download(`/v1/tasks/${id}/artifacts`, other)).status).toBe(404);
    const missing = await api.call('GET', `/v1/tasks/${id}/artifacts/..%2Fown.txt`);
    expect([missing.status, missing.body.code]).toEqual([404, 'artifact.not-found']);
  });
});

describe('signed addresses', () => {
  it('give an agent behind HTTP its files, and take its artifacts while its attempt runs only', async () => {
    const { id } = await run({ agent: 'away', input: 'x', attachments: [{ uploadId: await uploadId('for you') }] });
    const sent = JSON.parse(tools.requests.findLast(({ path }) => path === '/agent')?.body ?? '{}') as {
      attachments: { name: string; url: string }[];
      artifactsUrl: string;
    };
    expect(sent.attachments).toMatchObject([{ name: 'note.txt', mediaType: 'text/plain', bytes: 7 }]);
    const file = await fetch(`${api.url}${pathOf(sent.attachments[0]?.url ?? '')}`);
    expect(await file.text()).toBe('for you');
    const late = await fetch(`${api.url}${pathOf(sent.artifactsUrl)}/late.txt`, { method: 'PUT', body: 'late' });
    expect([late.status, ((await late.json()) as { code: string }).code]).toEqual([409, 'file.attempt-over']);
    expect((await api.call('GET', `/v1/tasks/${id}/artifacts`)).body.items).toEqual([]);
  });

  it('open nothing when they are changed, have expired, or are for something else', async () => {
    const { fileLinks } = api.parts;
    const until = Date.now() + 60_000;
    const get = await fileLinks.sign({ may: 'get', tenant: 'default', file: await uploadId('x'), until });
    const codeOf = async (signed: string, init: RequestInit = {}): Promise<string> =>
      ((await (await fetch(`${api.url}/files/${signed}`, init)).json()) as { code: string }).code;
    const [text = '', signature] = get.split('.');
    const forged = Buffer.from(Buffer.from(text, 'base64url').toString().replace('default', 'other00')).toString('base64url');
    expect(await codeOf(`${forged}.${signature}`)).toBe('file.link-invalid');
    expect(await codeOf('nonsense')).toBe('file.link-invalid');
    expect(await codeOf(await fileLinks.sign({ may: 'get', tenant: 'default', file: '0'.repeat(32), until: Date.now() - 1 }))).toBe(
      'file.link-invalid',
    );
    expect(await codeOf(`${get}/a.txt`, { method: 'PUT', body: 'x' })).toBe('file.link-invalid');
    expect(await codeOf(await fileLinks.sign({ may: 'get', tenant: 'other', file: '0'.repeat(32), until }))).toBe('artifact.not-found');
  });

  it('open nothing while their tenant is disabled', async () => {
    const id = 'closes';
    expect((await api.call('POST', '/v1/tenants', { body: { id } })).status).toBe(201);
    const stored = await api.parts.files.upload(id, { name: 'x', mediaType: 'text/plain' }, Readable.from([Buffer.from('x')]));
    const signed = await api.parts.fileLinks.sign({ may: 'get', tenant: id, file: stored.file, until: Date.now() + 60_000 });
    const statusOf = async (): Promise<number> => (await fetch(`${api.url}/files/${signed}`)).status;
    expect(await statusOf()).toBe(200);
    await api.call('PATCH', `/v1/tenants/${id}`, { body: { disabled: true } });
    await expect.poll(statusOf, { timeout: 5000 }).toBe(403);
  });

  it('take an artifact of the attempt that runs', async () => {
    const { body } = await api.call('POST', '/v1/tasks', { body: { agent: 'waits', input: 'x' } });
    await expect.poll(async () => (await api.call('GET', `/v1/tasks/${body.id}`)).body.status, { timeout: 10_000 }).toBe('running');
    const by = { tenant: 'default', task: body.id, attempt: 1, lease: `default/${body.id}/1` };
    const signed = await api.parts.fileLinks.sign({ may: 'put', ...by, until: Date.now() + 60_000 });
    const bytes = randomBytes(50_000);
    const put = await fetch(`${api.url}/files/${signed}/made.bin`, { method: 'PUT', body: bytes });
    expect(await put.json()).toEqual({ name: 'made.bin', mediaType: 'application/octet-stream', bytes: 50_000 });
    const made = await download(`/v1/tasks/${body.id}/artifacts/made.bin`);
    expect(digest(new Uint8Array(await made.arrayBuffer()))).toBe(digest(bytes));
    // Senders that declare nothing, or only bytes, leave it to the name.
    for (const headers of [{}, { 'content-type': 'application/octet-stream' }]) {
      const chart = await fetch(`${api.url}/files/${signed}/chart.png`, { method: 'PUT', headers, body: bytes });
      expect(await chart.json()).toMatchObject({ mediaType: 'image/png' });
    }
    await api.call('POST', `/v1/tasks/${body.id}/cancel`, { body: {} });
  });
});
