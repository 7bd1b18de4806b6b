import { expect, it } from 'vitest';
import { runAgent } from 'muster/testing';
import { support } from '../../agents/support.ts';
import { environmentOf } from '../services/chat/running-chat.ts';
import { useChat, useFakePlatforms } from '../services/chat/use-chat.ts';
import { startFakeModel } from '../support/agents/fake-model.ts';
import type { ShownMessage } from '../support/chat/fake-platform.ts';
import { closeAfterTests } from '../support/close-after-tests.ts';
import { useWorker } from '../support/use-worker.ts';
import { waitFor } from '../support/wait-for.ts';

/** Looks the order up, pays it back, and says what came of it. */
const model = (number: string, cents: number) => (call: { messages: readonly { role: string; content: unknown }[] }) => {
  const results = call.messages.filter(({ role }) => role === 'tool');
  if (results.length === 0) return { toolCalls: [{ name: 'find_order', input: { number } }] };
  if (results.length === 1) return { toolCalls: [{ name: 'refund', input: { number, cents } }] };
  return JSON.stringify(results.at(-1)?.content);
};

const refund = async (number: string, cents: number, answers: string[] = []): Promise<string> =>
  (await runAgent(support, { input: `Please refund ${number}`, models: { default: model(number, cents) }, answers })).output;

it('the example with tools pays back a little by itself, and more once somebody approves', async () => {
  expect(await refund('A-17', 1900)).toContain('Paid back 19.00 USD of order A-17');
  expect(await refund('B-4', 12_500, ['approve'])).toContain('Paid back 125.00 USD of order B-4');
  expect(await refund('B-4', 12_500, ['refuse'])).toContain('A person refused this call');
  expect(await refund('B-4', 12_500)).toContain('Nobody approved this call');
});

const provider = closeAfterTests(await startFakeModel());
provider.mock.on({ predicate: () => true }, ({ messages }) => {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const call = (name: string, input: object): object => ({ name, arguments: JSON.stringify(input), id: `call-${results.length}` });
  if (results.length === 0) return { content: 'Let me look.', toolCalls: [call('find_order', { number: 'B-4' })] as never };
  if (results.length === 1) return { toolCalls: [call('refund', { number: 'B-4', cents: 12_500 })] as never };
  return { content: typeof results[1] === 'string' ? results[1] : '' };
});
const fakes = await useFakePlatforms();
const chat = await useChat(
  { ...environmentOf(fakes), OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'k' },
  { agents: { support }, routing: { agent: 'support' } },
);
await useWorker(chat.parts);

it('the example with tools asks in its chat of Telegram by buttons, and goes on as somebody pressed', { timeout: 60_000 }, async () => {
  const { telegram } = fakes;
  const shows = async (text: string): Promise<ShownMessage> =>
    await waitFor(() => telegram.shown.findLast((message) => message.text.includes(text)) ?? null, { deadlineMs: 20_000, what: text });
  await chat.post('telegram', telegram.personWrites({ text: 'I want my money back for B-4', number: 1 }));
  const question = await shows('May the agent "support" call its tool "refund"');
  expect(question.text).toContain('12500');
  expect(question.buttons).toEqual(['approve', 'refuse']);
  expect(provider.mock.getRequests()).toHaveLength(2);
  await chat.post('telegram', telegram.personPresses({ label: 'approve' }));
  expect((await shows('Paid back 125.00 USD')).text).toContain('Let me look.');
  expect(provider.mock.getRequests()).toHaveLength(3);
});
