import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { hmac } from '../../../../services/webhooks/providers/generic.ts';
import { verifyWebhook } from '../../../../services/webhooks/providers/registry.ts';
import { incoming, NOW_MS, NOW_S } from './incoming.ts';

const optionsSchema = hmac.options.schema;
type HmacOptions = z.infer<typeof optionsSchema>;

const SECRET = 'a secret of the sender';
const TEXT = '{"type":"build.finished","event":"ignored","ok":true}';

function sign(options: HmacOptions, content: string, secret = SECRET): string {
  return options.prefix + createHmac(options.algorithm, secret).update(content).digest(options.encoding);
}

const VARIANTS = (['sha1', 'sha256', 'sha512'] as const).flatMap((algorithm) =>
  (['hex', 'base64'] as const).flatMap((encoding) => ['', 'sig='].map((prefix) => ({ algorithm, encoding, prefix }))),
);

test.each(VARIANTS)('a signature by $algorithm in $encoding after "$prefix" is taken, and a changed body refused', async (variant) => {
  const options = optionsSchema.parse({ header: 'X-Signature', ...variant });
  const headers = { 'x-signature': sign(options, TEXT) };
  expect(await verifyWebhook('hmac', incoming(TEXT, { secret: SECRET, options, headers }))).toMatchObject({
    event: 'build.finished',
    delivery: null,
  });
  const changed = incoming(TEXT.replace('true', 'fals'), { secret: SECRET, options, headers });
  await expect(verifyWebhook('hmac', changed)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('the signature is over the bytes, so that a body that is not UTF-8 is malformed only when it is signed', async () => {
  const options = optionsSchema.parse({ header: 'X-Signature' });
  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  const right = createHmac('sha256', SECRET).update(bytes).digest('hex');
  const asked = incoming(bytes, { secret: SECRET, options, headers: { 'x-signature': right } });
  await expect(verifyWebhook('hmac', asked)).rejects.toMatchObject({ code: 'request.malformed' });
  const lenient = createHmac('sha256', SECRET).update('"\uFFFD"').digest('hex');
  await expect(verifyWebhook('hmac', { ...asked, headers: { 'x-signature': lenient } })).rejects.toMatchObject({
    code: 'auth.bad-signature',
  });
});

test('names come from the headers that the options say', async () => {
  const options = optionsSchema.parse({ header: 'X-Signature', eventHeader: 'X-Event', deliveryHeader: 'X-Delivery' });
  const headers = { 'x-signature': sign(options, TEXT), 'x-event': 'deploy', 'x-delivery': '42' };
  expect(await verifyWebhook('hmac', incoming(TEXT, { secret: SECRET, options, headers }))).toMatchObject({
    event: 'deploy',
    delivery: '42',
  });
});

test.each([
  ['seconds, over the default content', { timestampHeader: 'X-Time' }, `${NOW_S}`, `${NOW_S}.${TEXT}`],
  ['milliseconds', { timestampHeader: 'X-Time', timestampUnit: 'ms' }, `${NOW_MS}`, `${NOW_MS}.${TEXT}`],
  ['a content of its own', { timestampHeader: 'X-Time', signedContent: 'v2:{body}:{timestamp}' }, `${NOW_S}`, `v2:${TEXT}:${NOW_S}`],
])('a signed time in %s is taken within the window and refused outside of it', async (_, given, time, content) => {
  const options = optionsSchema.parse({ header: 'X-Signature', toleranceMs: 60_000, ...given });
  const asked = incoming(TEXT, { secret: SECRET, options, headers: { 'x-signature': sign(options, content), 'x-time': time } });
  expect(await verifyWebhook('hmac', asked)).toMatchObject({ kind: 'event' });
  for (const nowMs of [NOW_MS + 62_000, NOW_MS - 62_000]) {
    await expect(verifyWebhook('hmac', { ...asked, nowMs })).rejects.toMatchObject({ code: 'auth.bad-signature' });
  }
  const moved = { ...asked, headers: { ...asked.headers, 'x-time': `${Number(time) + 1}` } };
  await expect(verifyWebhook('hmac', moved)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each(['', 'sig=', '00', 'sig=00', 'sig=zz', `sig=${'0'.repeat(64)}`, `sig=${'0'.repeat(1_000_000)}`, 'SIG=00'])(
  'the signature %j is refused',
  async (value) => {
    const options = optionsSchema.parse({ header: 'X-Signature', prefix: 'sig=' });
    const asked = incoming(TEXT, { secret: SECRET, options, headers: { 'x-signature': value } });
    await expect(verifyWebhook('hmac', asked)).rejects.toMatchObject({ code: 'auth.bad-signature' });
  },
);

test.each(['!!', '0', ' 00'])('a right signature with "%s" after it is refused, where a lenient decoder would stop', async (more) => {
  const options = optionsSchema.parse({ header: 'X-Signature' });
  const asked = incoming(TEXT, { secret: SECRET, options, headers: { 'x-signature': `${sign(options, TEXT)}${more}` } });
  await expect(verifyWebhook('hmac', asked)).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test('a header named like a property of every object is missing when it was not sent', async () => {
  const options = optionsSchema.parse({ header: 'constructor' });
  await expect(verifyWebhook('hmac', incoming(TEXT, { secret: SECRET, options }))).rejects.toMatchObject({ code: 'auth.bad-signature' });
});

test.each([
  { why: 'without the body', given: { signedContent: '{timestamp}' } },
  { why: 'with the body twice', given: { signedContent: '{body}{body}' } },
  { why: 'with a time that no header gives', given: { signedContent: '{timestamp}{body}' } },
  { why: 'without the time, which anybody could change', given: { timestampHeader: 'X-Time', signedContent: '{body}' } },
  { why: 'in a header that cannot be', given: { header: '__proto__' } },
  { why: 'by another algorithm', given: { algorithm: 'md5' } },
  { why: 'without tolerance', given: { toleranceMs: 0 } },
])('options for a signature $why are refused', ({ given }) => {
  expect(optionsSchema.safeParse({ header: 'X-Signature', ...given }).success).toBe(false);
});
