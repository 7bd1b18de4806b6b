import { type Adapter, Chat } from 'chat';
import { afterEach, describe, expect, it } from 'vitest';
import { environmentSchema } from '#shared/config/environment.ts';
import { createLog } from '#shared/log/create-log.ts';
import { readRefusals } from '#shared/deliveries/refused-platforms.ts';
import { sdkLog } from '../../../../services/chat/platforms/platform-driver.ts';
import { openDrivers } from '../../../../services/chat/platforms/registry.ts';
import { ChatState } from '../../../../services/chat/receive/chat-state.ts';
import { InboundCalls } from '../../../../services/chat/receive/inbound-call.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { startFakeDiscordGateway } from '../../../support/chat/fake-discord-gateway.ts';
import { useRedis, useRedisClient } from '../../../support/redis/use-redis.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { startChat } from '../running-chat.ts';

interface Reply {
  status: number;
  body: unknown;
}

const redis = await useRedis();
const client = await useRedisClient(redis);
const log = createLog({ level: 'silent', service: 'test' });
const gateway = closeAfterTests(await startFakeDiscordGateway('77'));

/** What the platform answers, by a part of the path. */
let replies: Readonly<Record<string, Reply>> = {};
const api = closeAfterTests(
  await startFakeHttpEndpoint((response, { url = '' }) => {
    const [, reply = { status: 404, body: {} }] = Object.entries(replies).find(([part]) => url.includes(part)) ?? [];
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
  }),
);
afterEach(() => {
  replies = {};
});

const ENVIRONMENTS = {
  telegram: { TELEGRAM_BOT_TOKEN: '7:t', TELEGRAM_WEBHOOK_SECRET: 's', TELEGRAM_API_URL: api.url },
  slack: { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_SIGNING_SECRET: 's', SLACK_API_URL: api.url },
  discord: {
    DISCORD_BOT_TOKEN: 't',
    DISCORD_PUBLIC_KEY: 'a'.repeat(64),
    DISCORD_APPLICATION_ID: '77',
    DISCORD_API_URL: api.url,
    DISCORD_GATEWAY: 'true',
  },
  whatsapp: {
    WHATSAPP_ACCESS_TOKEN: 't',
    WHATSAPP_APP_SECRET: 's',
    WHATSAPP_PHONE_NUMBER_ID: '1',
    WHATSAPP_VERIFY_TOKEN: 'v',
    WHATSAPP_API_URL: api.url,
  },
};
type Name = keyof typeof ENVIRONMENTS;

async function refusalOf(name: Name): Promise<string | null> {
  const env = environmentSchema.parse({ REDIS_URL: 'redis://127.0.0.1:1', ...ENVIRONMENTS[name] });
  const [driver] = await openDrivers(env, log);
  return (await driver?.findRefusal()) ?? null;
}

const OK_DISCORD = { '/users/@me': { status: 200, body: { id: '77' } } };
const slack = (error: string): Record<string, Reply> => ({ 'auth.test': { status: 200, body: { ok: false, error } } });
const meta = (status: number, code: number): Record<string, Reply> => ({ '/1?': { status, body: { error: { message: 'no', code } } } });

describe('a platform', () => {
  it.each<[Name, string, Record<string, Reply>, string]>([
    ['telegram', 'an unauthorized token', { getMe: { status: 401, body: { ok: false, error_code: 401 } } }, 'TELEGRAM_BOT_TOKEN'],
    ['telegram', 'a token of no bot', { getMe: { status: 404, body: { ok: false, error_code: 404 } } }, 'TELEGRAM_BOT_TOKEN'],
    ...['invalid_auth', 'account_inactive', 'token_revoked', 'token_expired'].map(
      (error): [Name, string, Record<string, Reply>, string] => ['slack', error, slack(error), error],
    ),
    ['discord', 'a wrong token', { '/users/@me': { status: 401, body: { message: '401: Unauthorized', code: 0 } } }, 'DISCORD_BOT_TOKEN'],
    [
      'discord',
      'a missing intent',
      { ...OK_DISCORD, '/applications/@me': { status: 200, body: { id: '77', flags: 0 } } },
      'Message Content intent (4014)',
    ],
    ['whatsapp', 'an expired token', meta(401, 190), 'WHATSAPP_ACCESS_TOKEN (190)'],
    ['whatsapp', 'a session that is over', meta(401, 102), 'WHATSAPP_ACCESS_TOKEN (102)'],
  ])('%s refuses %s until somebody repairs it', async (name, _what, answers, part) => {
    replies = answers;
    expect(await refusalOf(name)).toContain(part);
  });

  it.each<[Name, string, Record<string, Reply>]>([
    ['telegram', 'answers', { getMe: { status: 200, body: { ok: true, result: { id: 7 } } } }],
    ['telegram', 'is throttled', { getMe: { status: 429, body: { ok: false } } }],
    ['telegram', 'is broken', { getMe: { status: 502, body: {} } }],
    ['slack', 'answers', { 'auth.test': { status: 200, body: { ok: true } } }],
    ['slack', 'has trouble of its own', slack('internal_error')],
    ['discord', 'has the intent', { ...OK_DISCORD, '/applications/@me': { status: 200, body: { id: '77', flags: 1 << 19 } } }],
    ['discord', 'does not say its flags', OK_DISCORD],
    ['whatsapp', 'answers', { '/1?': { status: 200, body: { id: '1' } } }],
    ['whatsapp', 'is throttled', meta(429, 4)],
  ])('%s that %s refuses nothing', async (name, _what, answers) => {
    replies = answers;
    expect(await refusalOf(name)).toBeNull();
  });
});

const logger = sdkLog(log);
const state = new ChatState({ redis: client, keyPrefix: 'chat', logger, retentionMs: 60_000, calls: new InboundCalls(log) });

/** The driver of Discord with an adapter that is ready, and its connections. */
async function openDiscord(): Promise<{
  listen(signal: AbortSignal, count?: () => Promise<boolean>): Promise<void>;
  findRefusal(): Promise<string | null>;
}> {
  const [driver] = await openDrivers(environmentSchema.parse({ REDIS_URL: 'redis://127.0.0.1:1', ...ENVIRONMENTS.discord }), log);
  if (driver?.listen === undefined) throw new Error('expected a connection of its own');
  const chat = new Chat({ userName: 'muster', adapters: { own: driver.adapter as Adapter }, state, logger });
  await chat.initialize();
  return {
    listen: async (signal, count = () => Promise.resolve(true)) => await driver.listen?.(signal, count),
    findRefusal: () => driver.findRefusal(),
  };
}

describe("a connection to Discord's Gateway", () => {
  const FINAL = [4004, 4010, 4011, 4012, 4013, 4014];

  it.each(FINAL)('that is refused with %i ends for good, with the reason', async (code) => {
    replies = OK_DISCORD;
    gateway.refuseWith(code);
    const before = gateway.identified;
    const driver = await openDiscord();
    await driver.listen(new AbortController().signal);
    gateway.refuseWith(null);
    expect([gateway.identified - before, await driver.findRefusal()]).toEqual([1, expect.stringContaining(`(${code})`)]);
  });

  it.each(FINAL)('that ends with %i in mid-session ends for good, with the reason', async (code) => {
    replies = OK_DISCORD;
    const before = gateway.identified;
    const driver = await openDiscord();
    const listening = driver.listen(new AbortController().signal);
    await waitFor(() => gateway.identified > before, { deadlineMs: 10_000, what: 'the connection' });
    gateway.closeWith(code);
    await listening;
    expect([gateway.identified - before, await driver.findRefusal()]).toEqual([1, expect.stringContaining(`(${code})`)]);
  });

  it('that the library makes again counts, and is nothing that Discord refuses', async () => {
    replies = OK_DISCORD;
    let counted = 0;
    const before = gateway.identified;
    const driver = await openDiscord();
    const stopping = new AbortController();
    const listening = driver.listen(stopping.signal, () => Promise.resolve((counted += 1) > 0));
    await waitFor(() => gateway.identified > before, { deadlineMs: 10_000, what: 'the connection' });
    gateway.closeWith(4007);
    await waitFor(() => counted === 2, { deadlineMs: 10_000, what: 'the count of the next connection' });
    expect(await driver.findRefusal()).toBeNull();
    stopping.abort();
    await listening;
  });

  it('that was refused with 4004 is made again once the API has refused the bot and knows it again', async () => {
    replies = OK_DISCORD;
    gateway.refuseWith(4004);
    const driver = await openDiscord();
    await driver.listen(new AbortController().signal);
    gateway.refuseWith(null);
    replies = { '/users/@me': { status: 401, body: {} } };
    expect(await driver.findRefusal()).not.toContain('restart');
    replies = OK_DISCORD;
    expect(await driver.findRefusal()).toBeNull();
  });
});

it('a chat process does not say who it is on a day with 900 connections, and notes at once why a connection ended for good', async () => {
  replies = OK_DISCORD;
  const before = gateway.identified;
  const { keys } = closeAfterTests(await openTestParts({ redisUrl: redis.url }));
  const key = `${keys.fleet.chat}:connections:discord`;
  await client.set(key, 900);
  const full = await startChat(redis.url, ENVIRONMENTS.discord);
  await waitFor(async () => (await client.get(key)) === '901', { deadlineMs: 10_000, what: 'the count of the connection' });
  await full.close();
  expect(gateway.identified).toBe(before);
  await client.del(key);
  const chat = await startChat(redis.url, ENVIRONMENTS.discord);
  await waitFor(() => gateway.identified > before, { deadlineMs: 10_000, what: 'the connection' });
  gateway.closeWith(4011);
  const noted = await waitFor(async () => (await readRefusals(chat.parts))[0], { deadlineMs: 4000, what: 'the refusal' });
  await chat.close();
  await client.del(keys.fleet.refusedPlatforms);
  expect(noted).toMatchObject({ platform: 'discord', reason: expect.stringContaining('(4011)') });
});

it('a bot that Discord refuses does not connect, which is noted until Discord knows it again', async () => {
  replies = { '/users/@me': { status: 401, body: {} } };
  const before = gateway.identified;
  const chat = await startChat(redis.url, ENVIRONMENTS.discord);
  try {
    const noted = await waitFor(async () => (await readRefusals(chat.parts))[0], { deadlineMs: 10_000, what: 'the refusal' });
    expect(noted).toMatchObject({ platform: 'discord', reason: expect.stringContaining('DISCORD_BOT_TOKEN') });
    expect(gateway.identified).toBe(before);
    replies = OK_DISCORD;
    await waitFor(() => gateway.identified === before + 1, { deadlineMs: 15_000, what: 'the connection' });
    expect(await readRefusals(chat.parts)).toEqual([]);
  } finally {
    await chat.close();
  }
});
