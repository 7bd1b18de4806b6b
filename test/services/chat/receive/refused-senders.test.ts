import { expect, it } from 'vitest';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { environmentOf, type PlatformName, startChat } from '../running-chat.ts';
import { useFakePlatforms } from '../use-chat.ts';

const PER_MINUTE = 5;
const redis = await useRedis();
const fakes = await useFakePlatforms();
const chat = closeAfterTests(await startChat(redis.url, environmentOf(fakes), { limits: { httpAnonymousPerMinute: PER_MINUTE } }));

let written = 0;

async function send(name: PlatformName): Promise<number> {
  written += 1;
  return (await chat.post(name, fakes[name].personWrites({ text: 'Hello', number: written }))).status;
}

/** Without any proof of the platform. */
async function forge(name: string): Promise<number> {
  return (await chat.post(name, { body: '{}', headers: { 'content-type': 'application/json' } })).status;
}

/** As WhatsApp checks the address, with another token. */
async function verify(): Promise<number> {
  return (await fetch(`${chat.base}/chat/whatsapp?hub.mode=subscribe&hub.verify_token=wrong`)).status;
}

async function untilBlocked(call: () => Promise<number>): Promise<void> {
  await waitFor(async () => (await call()) === 429, { deadlineMs: 5000, what: 'the address to be refused' });
}

it('bad signatures block their address for that platform only', async () => {
  expect(await forge('telegram')).toBe(401);
  await untilBlocked(() => forge('telegram'));
  expect(await send('telegram')).toBe(429);
  expect(await send('slack')).toBe(200);
});

it('a wrong verify token counts, too', async () => {
  expect(await verify()).toBe(403);
  await untilBlocked(verify);
});

it('requests to platforms that are not on block their address for these only', async () => {
  expect(await forge('nothing')).toBe(404);
  await untilBlocked(() => forge('nothing'));
  expect(await forge('nowhere')).toBe(429);
  expect(await send('discord')).toBe(200);
});

it('the address of a platform that sent what was taken is not blocked by strangers who let it send, too', async () => {
  expect(await send('slack')).toBe(200);
  for (let refused = 0; refused < 3 * PER_MINUTE; refused += 1) expect(await forge('slack')).toBe(401);
  expect(await send('slack')).toBe(200);
});
