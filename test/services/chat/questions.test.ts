import { expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { listQuestions } from '#shared/waits/questions/find-questions.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 20_000;

const ask: AgentFunction = async (_task, context) => `It is ${await context.ask({ question: 'Publish 1.4.0?', choices: ['yes', 'no'] })}`;

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  agents: { ask: { kind: 'function', run: ask } },
  routing: { agent: 'ask' },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
});
await useWorker(chat.parts);

/** Whether the chat shows a text that has this in it. */
const shows = (name: keyof typeof fakes, text: string): Promise<unknown> =>
  waitFor(() => fakes[name].shown.some((message) => message.text.includes(text)) || JSON.stringify(fakes[name].calls).includes(text), {
    deadlineMs: DEADLINE_MS,
    what: `${text} in ${name}`,
  });

it.each(PLATFORM_NAMES)(
  'a question comes into the chat of %s with buttons, one of which answers it once',
  async (name) => {
    const { status } = await chat.post(name, fakes[name].personWrites({ text: 'publish it', number: 1 }));
    expect(status).toBe(200);
    await shows(name, 'Publish 1.4.0?');
    const press = fakes[name].personPresses({ label: 'yes' });
    expect((await chat.post(name, press)).status).toBe(200);
    await shows(name, 'Answered: yes');
    await shows(name, 'It is yes');
    const { items } = await listQuestions(chat.parts.ledger, 'default', 'answered', { limit: 10 });
    expect(items[0]).toMatchObject({ answer: 'yes', answeredBy: { kind: 'chat' } });
    expect((await chat.post(name, fakes[name].personPresses({ label: 'no' }))).status).toBe(200);
    await shows(name, 'answered before');
  },
  30_000,
);

const say = (text: string, number: number): Promise<{ status: number }> =>
  chat.post('telegram', fakes.telegram.personWrites({ text, number, chat: '4009' }));
const isOpen = async (): Promise<boolean> => (await listQuestions(chat.parts.ledger, 'default', 'open', { limit: 10 })).items.length === 1;

it('a text that is the number of a choice answers it too', async () => {
  await say('publish it', 1);
  await waitFor(isOpen, { deadlineMs: DEADLINE_MS, what: 'an open question' });
  await shows('telegram', '"chat_id":"4009"');
  expect((await say('2', 2)).status).toBe(200);
  await shows('telegram', 'It is no');
}, 30_000);
