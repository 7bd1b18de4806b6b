import { createHmac } from 'node:crypto';
import express from 'express';
import { beforeAll, expect, test } from 'vitest';
import { createKey } from '#shared/tenants/key-store.ts';
import { createWebhooksService } from '../../../services/webhooks/create-webhooks-service.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../../services/webhooks/providers/registry.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { leastCpuMicros } from '../../support/cpu-micros.ts';
import { serveApp } from '../../support/serve-app.ts';
import { useParts } from '../../support/use-parts.ts';
import { plainBody, worstValues } from '../worst-bodies.ts';

const SIZE = { bytes: 2_097_152, values: 40_000, depth: 128 };
const MAX_TIMES = 12;
const LEAST_MICROS = 10_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** As costly as a template may be made: at each level of sections all names are looked up, and found nowhere. */
const TEMPLATE = `${'{{#payload}}'.repeat(20)}${'{{x.y.z.q}}'.repeat(400)}${'{{/payload}}'.repeat(20)}`;

const parts = await useParts({
  webhooks: { maxBodyBytes: SIZE.bytes, maxBodyValues: SIZE.values, maxBodyDepth: SIZE.depth },
  limits: { httpAnonymousPerMinute: 1_000_000 },
});
const { router } = createWebhooksService(parts);
if (router === undefined) throw new Error('expected a router');
const { url } = closeAfterTests(await serveApp(express().use(router)));
let operator: string;

beforeAll(async () => {
  operator = (await createKey(parts, { tenant: 'default', name: 'test', scopes: ['operate'] })).secret;
});

const hmac = (content: string, encoding: 'hex' | 'base64', key: string | Buffer = SECRET): string =>
  createHmac('sha256', key).update(content).digest(encoding);
const nowS = (): string => String(Math.floor(Date.now() / 1000));

interface Sender {
  draft?: Record<string, unknown>;
  sign: (body: string) => Record<string, string>;
}

/** A sender of each provider, who signs as it should. */
const SENDERS: Readonly<Record<ProviderName, Sender>> = {
  github: { sign: (body) => ({ 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(body, 'hex')}` }) },
  gitlab: { sign: () => ({ 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': SECRET }) },
  stripe: { sign: (body, at = nowS()) => ({ 'stripe-signature': `t=${at},v1=${hmac(`${at}.${body}`, 'hex')}` }) },
  slack: {
    sign: (body, at = nowS()) => ({ 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${hmac(`v0:${at}:${body}`, 'hex')}` }),
  },
  standard: {
    sign: (body, at = nowS()) => ({
      'webhook-id': 'm-1',
      'webhook-timestamp': at,
      'webhook-signature': `v1,${hmac(`m-1.${at}.${body}`, 'base64', Buffer.from(SECRET.slice('whsec_'.length), 'base64'))}`,
    }),
  },
  hmac: { draft: { options: { header: 'X-Signature' } }, sign: (body) => ({ 'x-signature': hmac(body, 'hex') }) },
  none: { draft: { secret: null }, sign: () => ({}) },
};

async function makeHook(provider: ProviderName, template: string | null): Promise<string> {
  const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
  const draft = { provider, secret: SECRET, agent: 'echo', template, ...SENDERS[provider].draft };
  const response = await fetch(`${url}/v1/hooks`, { method: 'POST', headers, body: JSON.stringify(draft) });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

async function post(hook: string, headers: Record<string, string>, body: string): Promise<number> {
  const response = await fetch(`${url}/hooks/${hook}`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

test.each(PROVIDER_NAMES)(
  'the worst body for a hook of provider %s costs a bounded multiple of a plain one of the same size',
  async (provider) => {
    const hook = await makeHook(provider, TEMPLATE);
    const { sign } = SENDERS[provider];
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const plainText = plainBody(SIZE.bytes);
    const plainHeaders = sign(plainText);
    const plain = await leastCpuMicros(async () => void (await post(hook, plainHeaders, plainText)));
    const bound = Math.max(plain, LEAST_MICROS) * MAX_TIMES;
    const bodies = [
      ...worstValues(SIZE).map(({ name, text }) => ({ name, text: text.padEnd(SIZE.bytes), headers: {} })),
      { name: 'fields of a form', text: 'a&'.repeat(SIZE.bytes / 2), headers: form },
      { name: 'a form of JSON', text: `payload=${worstValues(SIZE)[1]?.text}`, headers: form },
    ];
    const costly: string[] = [];
    for (const { name, text, headers } of bodies) {
      const signed = { ...headers, ...sign(text) };
      const micros = await leastCpuMicros(async () => {
        expect(await post(hook, signed, text)).toBeLessThan(500);
      }, bound);
      if (micros > bound) costly.push(`${name}: ${micros} of ${bound} microseconds`);
    }
    expect(costly).toEqual([]);
  },
  60_000,
);

test('what has more values or levels than allowed is refused before it is parsed', async () => {
  const hook = await makeHook('none', null);
  const keys = Array.from({ length: 150_000 }, (_, at) => `"k${at}":0`).join(',');
  expect(await post(hook, {}, `{${keys}}`)).toBe(413);
  expect(await post(hook, {}, `${'['.repeat(1000)}${']'.repeat(1000)}`)).toBe(422);
});

test('a template that is too large for its bounds is refused when the hook is made', async () => {
  const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
  const template = `${'{{#payload}}'.repeat(400)}${'{{x.y.z.q}}'.repeat(300)}${'{{/payload}}'.repeat(400)}`;
  const body = JSON.stringify({ provider: 'none', agent: 'echo', template });
  const response = await fetch(`${url}/v1/hooks`, { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([422, { detail: 'template: expected at most 500 tags, got 700' }]);
});
