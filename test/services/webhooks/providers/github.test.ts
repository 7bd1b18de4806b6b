import { sign } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { readGithubExamples } from '../github-examples.ts';
import { incoming } from './incoming.ts';

const SECRET = "It's a Secret to Everybody";
const EXAMPLES = readGithubExamples();

async function signed(text: string, headers: Record<string, string | string[]> = {}) {
  return {
    secret: SECRET,
    headers: { 'x-hub-signature-256': await sign(SECRET, text), 'x-github-event': 'push', 'x-github-delivery': 'd-1', ...headers },
  };
}

test('each of the 329 documented payloads is taken with its event and delivery', async () => {
  expect(EXAMPLES).toHaveLength(329);
  for (const [index, { event, text }] of EXAMPLES.entries()) {
    const request = await signed(text, { 'x-github-event': event, 'x-github-delivery': `delivery-${index}` });
    const outcome = await verifyWebhook('github', incoming(text, request));
    expect(outcome).toMatchObject({ kind: 'event', event, delivery: `delivery-${index}`, payload: JSON.parse(text) });
  }
});

test('each of the 329 documented payloads is refused when one byte of it changed', async () => {
  for (const { event, text } of EXAMPLES) {
    const request = await signed(text, { 'x-github-event': event });
    const tampered = Buffer.from(text);
    const middle = Math.floor(tampered.length / 2);
    tampered[middle] = (tampered[middle] ?? 0) ^ 1;
    await expect(verifyWebhook('github', incoming(tampered, request))).rejects.toMatchObject({ code: 'auth.bad-signature' });
  }
});

test("the signature of GitHub's documentation is taken", async () => {
  // Secret, body and signature as docs.github.com prints them; the body is no JSON, so it gets past the signature and no further.
  const headers = {
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    'x-github-event': 'push',
  };
  const request = incoming('Hello, World!', { secret: SECRET, headers });
  await expect(verifyWebhook('github', request)).rejects.toMatchObject({ code: 'request.malformed' });
  const changed = incoming('Hello, World?', { secret: SECRET, headers });
  await expect(verifyWebhook('github', changed)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('the action makes the event type finer', async () => {
  const text = '{"action":"opened"}';
  const outcome = await verifyWebhook('github', incoming(text, await signed(text, { 'x-github-event': 'pull_request' })));
  expect(outcome).toMatchObject({ event: 'pull_request', eventType: 'pull_request.opened' });
});

test('a form is taken with the JSON of its field payload', async () => {
  const text = new URLSearchParams({ payload: '{"zen":"Keep it logically awesome & simple."}' }).toString();
  const outcome = await verifyWebhook(
    'github',
    incoming(text, await signed(text, { 'content-type': 'application/x-www-form-urlencoded' })),
  );
  expect(outcome).toMatchObject({ payload: { zen: 'Keep it logically awesome & simple.' } });
});

test('without a delivery id the delivery is null', async () => {
  const text = '{}';
  const { headers, secret } = await signed(text, { 'x-github-delivery': '' });
  expect(await verifyWebhook('github', incoming(text, { headers, secret }))).toMatchObject({ delivery: null });
});

test.each([
  ['is missing', undefined],
  ['is empty', ''],
  ['is another algorithm', 'sha1=0000000000000000000000000000000000000000'],
  ['has no prefix', '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'],
  ['is cut', 'sha256=757107ea'],
  ['is not ASCII', `sha256=${'é'.repeat(64)}`],
  ['is huge', `sha256=${'0'.repeat(1_000_000)}`],
])('a signature that %s is refused', async (_, signature) => {
  const request = incoming('{}', { secret: SECRET, headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push' } });
  await expect(verifyWebhook('github', request)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('two signatures of which one is right are refused, as Node joins them and as a list', async () => {
  const { headers } = await signed('{}');
  const joined = { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}, ${headers['x-hub-signature-256']}` };
  await expect(verifyWebhook('github', incoming('{}', { secret: SECRET, headers: joined }))).rejects.toMatchObject({
    code: 'auth.bad-signature',
  });
  const list = { ...headers, 'x-hub-signature-256': [`sha256=${'0'.repeat(64)}`, headers['x-hub-signature-256']] };
  const request = incoming('{}', { secret: SECRET, headers: list as unknown as Record<string, string[]> });
  await expect(verifyWebhook('github', request)).rejects.toMatchObject({ code: 'request.malformed' });
});

test.each([
  ['is empty', ''],
  ['is not JSON', '<xml/>'],
  ['is JSON cut short', '{"action":"open'],
  ['is JSON after a byte order mark', '\uFEFF{}'],
])('a signed body that %s is malformed', async (_, text) => {
  const headers = text === '' ? { 'x-hub-signature-256': 'sha256=00', 'x-github-event': 'push' } : (await signed(text)).headers;
  await expect(verifyWebhook('github', incoming(text, { secret: SECRET, headers }))).rejects.toMatchObject({ code: 'request.malformed' });
});

test('a body that is not UTF-8 is malformed, although a lenient decoder would make the signed text of it', async () => {
  const { headers } = await signed('{"a":"\uFFFD"}');
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
  await expect(verifyWebhook('github', incoming(bytes, { secret: SECRET, headers }))).rejects.toMatchObject({ code: 'request.malformed' });
});

test.each([
  ['an event that is missing', { 'x-github-event': '' }],
  ['an event of 201 characters', { 'x-github-event': 'e'.repeat(201) }],
  ['an event with a line break', { 'x-github-event': 'push\r\nx' }],
  ['a delivery id of 201 characters', { 'x-github-delivery': 'd'.repeat(201) }],
])('%s is malformed', async (_, headers) => {
  const request = incoming('{}', await signed('{}', headers));
  await expect(verifyWebhook('github', request)).rejects.toMatchObject({ code: 'request.malformed' });
});

test('keys that name prototypes stay plain fields of the payload', async () => {
  const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"action":"edited"}';
  const outcome = await verifyWebhook('github', incoming(text, await signed(text)));
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(outcome).toMatchObject({ eventType: 'push.edited' });
});
