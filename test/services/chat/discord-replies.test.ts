import { expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { discordId, startFakeDiscord } from '../../support/chat/fake-discord.ts';
import { startFakeDiscordGateway } from '../../support/chat/fake-discord-gateway.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useChat } from './use-chat.ts';

const ask: AgentFunction = async ({ input }, context) => `It is ${await context.ask({ question: `${input}?` })}`;

const discord = closeAfterTests(await startFakeDiscord());
const gateway = closeAfterTests(await startFakeDiscordGateway(discord.applicationId));
const chat = await useChat(
  { ...discord.env, DISCORD_GATEWAY: 'true' },
  { agents: { ask: { kind: 'function', run: ask } }, routing: { agent: 'ask' } },
);
await useWorker(chat.parts);
await waitFor(() => gateway.identified === 1, { deadlineMs: 20_000, what: 'the process to connect' });

const shows = (text: string): Promise<{ id: string }> =>
  waitFor(() => discord.shown.find((message) => message.text.includes(text)) ?? null, { deadlineMs: 20_000, what: `"${text}"` });

it('a reply that comes by the Gateway answers the question whose message it is to, and a forward of that does not', async () => {
  gateway.message({ id: discordId(1), content: 'Where to' });
  const { id } = await shows('Where to?');
  const reference = { message_id: id, channel_id: '4001' };
  gateway.message({ id: discordId(2), content: 'Forwarded', message_reference: { type: 1, ...reference } });
  await waitFor(async () => (await chat.tasks()).some(({ body }) => body.input === 'Forwarded'), {
    deadlineMs: 20_000,
    what: 'the forward',
  });
  gateway.message({ id: discordId(3), content: 'Rome', type: 19, message_reference: { type: 0, ...reference } });
  await shows('It is Rome');
  expect((await chat.tasks()).map(({ body }) => body.input)).toEqual(['Where to', 'Forwarded']);
});
