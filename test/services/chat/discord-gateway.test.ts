import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRedisUnavailable } from '#shared/redis/is-redis-unavailable.ts';
import { discordId, startFakeDiscord, type FakeDiscord } from '../../support/fake-discord.ts';
import { startFakeDiscordGateway, type FakeDiscordGateway } from '../../support/fake-discord-gateway.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startChat, type RunningChat } from './running-chat.ts';

let redis: RedisServer;
let discord: FakeDiscord;
let gateway: FakeDiscordGateway;
const chats: RunningChat[] = [];

beforeAll(async () => {
  redis = await startRedis();
  discord = await startFakeDiscord();
  gateway = await startFakeDiscordGateway(discord.applicationId);
  // Two processes, which both hear everything.
  for (let each = 0; each < 2; each += 1) chats.push(await startChat(redis.url, { ...discord.env, DISCORD_GATEWAY: 'true' }));
  await waitFor(() => gateway.identified === 2, { deadlineMs: 20_000, what: 'both processes to connect' });
});
afterAll(async () => {
  await Promise.all(chats.map(async (chat) => await chat.close()));
  await gateway.close();
  await discord.close();
  await redis.stop();
});

const inputs = async (): Promise<string[]> => ((await chats[0]?.tasks()) ?? []).map(({ body }) => body.input);

it('a message that comes by the Gateway becomes one task, however many processes listen', async () => {
  gateway.message({ id: discordId(1), content: 'Hello by the Gateway' });
  gateway.message({ id: discordId(2), content: 'And another' });
  await waitFor(async () => (await inputs()).length >= 2, { deadlineMs: 10_000, what: 'the tasks' });
  gateway.message({ id: discordId(3), content: 'The last' });
  await waitFor(async () => (await inputs()).includes('The last'), { deadlineMs: 10_000, what: 'the last task' });
  expect((await inputs()).toSorted()).toEqual(['And another', 'Hello by the Gateway', 'The last']);
  const [task] = (await chats[0]?.tasks()) ?? [];
  expect(task?.body).toMatchObject({ session: 'discord:@me:4001', user: '77', reply: { platform: 'discord', thread: 'discord:@me:4001' } });
});

it('a message that comes while Redis is away is taken when it is back, as nobody sends it again', async () => {
  await redis.kill();
  gateway.message({ id: discordId(4), content: 'In the dark' });
  // A call made after those of the message has failed, so theirs have, too.
  await waitFor(() => chats[0]?.parts.redis.status === 'reconnecting', { deadlineMs: 10_000, what: 'the loss to be noticed' });
  await expect(chats[0]?.parts.redis.ping()).rejects.toSatisfy(isRedisUnavailable);
  await redis.restart();
  await waitFor(async () => (await inputs()).includes('In the dark'), { deadlineMs: 20_000, what: 'the task' });
});

it('bots are not answered', async () => {
  gateway.message({ id: discordId(5), content: 'I am a bot', author: { id: '9', username: 'other', discriminator: '0', bot: true } });
  gateway.message({ id: discordId(6), content: 'I am not' });
  await waitFor(async () => (await inputs()).includes('I am not'), { deadlineMs: 10_000, what: 'the task' });
  expect(await inputs()).not.toContain('I am a bot');
});
