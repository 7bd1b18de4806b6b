import { expect, it } from 'vitest';
import { isRedisUnavailable } from '#shared/redis/availability.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { discordId, startFakeDiscord } from '../../support/chat/fake-discord.ts';
import { startFakeDiscordGateway } from '../../support/chat/fake-discord-gateway.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startChat } from './running-chat.ts';

const redis = await useRedis();
const discord = closeAfterTests(await startFakeDiscord());
const gateway = closeAfterTests(await startFakeDiscordGateway(discord.applicationId));
const env = { ...discord.env, DISCORD_GATEWAY: 'true' };
// Two processes, which both hear everything.
const chat = closeAfterTests(await startChat(redis.url, env));
closeAfterTests(await startChat(redis.url, env));
await waitFor(() => gateway.identified === 2, { deadlineMs: 20_000, what: 'both processes to connect' });

const inputs = async (): Promise<string[]> => (await chat.tasks()).map(({ body }) => body.input);

it('a message that comes by the Gateway becomes one task, however many processes listen', async () => {
  gateway.message({ id: discordId(1), content: 'Hello by the Gateway' });
  gateway.message({ id: discordId(2), content: 'And another' });
  await waitFor(async () => (await inputs()).length >= 2, { deadlineMs: 10_000, what: 'the tasks' });
  gateway.message({ id: discordId(3), content: 'The last' });
  await waitFor(async () => (await inputs()).includes('The last'), { deadlineMs: 10_000, what: 'the last task' });
  expect((await inputs()).toSorted()).toEqual(['And another', 'Hello by the Gateway', 'The last']);
  const [task] = await chat.tasks();
  expect(task?.body).toMatchObject({ session: 'discord:@me:4001', user: '77', reply: { platform: 'discord', thread: 'discord:@me:4001' } });
});

it('a message that comes while Redis is away is accepted when it is back, because nobody sends it again', async () => {
  await redis.kill();
  gateway.message({ id: discordId(4), content: 'In the dark' });
  // A call made after those of the message has failed, so theirs have, too.
  await waitFor(() => chat.parts.redis.status === 'reconnecting', { deadlineMs: 10_000, what: 'the loss to be noticed' });
  await expect(chat.parts.redis.ping()).rejects.toSatisfy(isRedisUnavailable);
  await redis.restart();
  await waitFor(async () => (await inputs()).includes('In the dark'), { deadlineMs: 20_000, what: 'the task' });
});

it('bots are not answered', async () => {
  gateway.message({ id: discordId(5), content: 'I am a bot', author: { id: '9', username: 'other', discriminator: '0', bot: true } });
  gateway.message({ id: discordId(6), content: 'I am not' });
  await waitFor(async () => (await inputs()).includes('I am not'), { deadlineMs: 10_000, what: 'the task' });
  expect(await inputs()).not.toContain('I am a bot');
});
