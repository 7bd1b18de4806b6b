import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { listQuestions } from '#shared/waits/questions/find-questions.ts';
import type { QuestionStatus } from '#shared/waits/questions/question.ts';
import type { ShownMessage } from '../../support/chat/fake-platform.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 20_000;
const TEST_MS = 60_000;

const ask: AgentFunction = async ({ input }, context) => `It is ${await context.ask({ question: `${input}?`, choices: ['yes', 'no'] })}`;
const count: AgentFunction = async ({ input }, context) => {
  const answer = await context.ask<number>({ question: `${input}?`, schema: { type: 'integer', minimum: 1 } });
  return `It is ${JSON.stringify(answer)}`;
};

const approve: AgentFunction = async ({ input }, context) =>
  `${input}: ${await context.ask({ question: `${input}?`, choices: ['yes', 'no'], by: 'others' })}`;

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  // The lane is left at once, so that a second run of the chat asks too.
  agents: {
    ask: { kind: 'function', run: ask, holdLane: 1 },
    count: { kind: 'function', run: count, holdLane: 1 },
    approve: { kind: 'function', run: approve },
  },
  routing: {
    agent: 'ask',
    agents: [
      { channel: '4011', agent: 'count' },
      { channel: '4012', agent: 'approve' },
    ],
  },
  deliveries: { firstRetryMs: 50, sweepMs: 200, pollMs: 100 },
  // Who writes to the bot, and may stop nothing, is a guest.
  chat: {
    access: {
      telegram: [
        { users: ['4001', '4009', '4011', '4012', '77'], may: ['talk', 'steer', 'schedule'] },
        { users: ['4020'], may: ['talk'] },
      ],
    },
  },
});
await useWorker(chat.parts);

type Name = keyof typeof fakes;

const shownIn = (name: Name, text: string): ShownMessage | undefined =>
  fakes[name].shown.findLast((message) => message.text.includes(text));
const shows = async (name: Name, text: string): Promise<ShownMessage> =>
  await waitFor(() => shownIn(name, text) ?? null, { deadlineMs: DEADLINE_MS, what: `"${text}" in ${name}` });
/** The buttons of the message that asked this, once it shows this end. */
const closes = async (name: Name, text: string, end: string): Promise<string[]> => {
  const message = await shows(name, text);
  await waitFor(() => message.text.includes(end), { deadlineMs: DEADLINE_MS, what: `"${end}" below "${text}"` });
  return message.buttons;
};
const questions = async (status: QuestionStatus, asks: string): Promise<{ id: string; answer: unknown; answeredBy: unknown }[]> =>
  (await listQuestions(chat.parts.ledger, 'default', status, { limit: 50 })).items.filter(({ question }) => question === asks);

describe.each(PLATFORM_NAMES)('a question of a run in the chat of %s', (name) => {
  const canEdit = name !== 'whatsapp';

  it('has buttons, of which the first press answers it, and shows the answer', { timeout: TEST_MS }, async () => {
    expect((await chat.post(name, fakes[name].personWrites({ text: `Publish to ${name}`, number: 1 }))).status).toBe(200);
    expect((await shows(name, `Publish to ${name}?`)).buttons).toEqual(['yes', 'no']);
    const [yes, no] = [fakes[name].personPresses({ label: 'yes' }), fakes[name].personPresses({ label: 'no' })];
    expect((await chat.post(name, yes)).status).toBe(200);
    await shows(name, 'Answered: yes');
    await shows(name, 'It is yes');
    expect(await questions('answered', `Publish to ${name}?`)).toMatchObject([{ answer: 'yes', answeredBy: { kind: 'chat' } }]);
    // Messages of WhatsApp cannot be changed.
    expect(await (canEdit ? closes(name, `Publish to ${name}?`, 'Answered by ') : [])).toEqual([]);
    expect((await chat.post(name, no)).status).toBe(200);
    await shows(name, 'answered before');
  });

  it('is answered by a reply to its message, and by no other text that is no choice', { timeout: TEST_MS }, async () => {
    await chat.post(name, fakes[name].personWrites({ text: 'Publish 1.5.0', number: 2 }));
    const { id } = await shows(name, 'Publish 1.5.0?');
    await chat.post(name, fakes[name].personWrites({ text: 'Maybe', number: 3, repliesTo: id }));
    await shows(name, 'does not answer the question, which stays open (answer: expected one of yes, no)');
    await chat.post(name, fakes[name].personWrites({ text: ' NO ', number: 4, repliesTo: id }));
    await shows(name, 'It is no');
    await chat.post(name, fakes[name].personWrites({ text: 'yes', number: 5, repliesTo: id }));
    await shows(name, 'answered before');
    expect((await chat.tasks()).map(({ body }) => body.input)).not.toContain('Maybe');
  });
});

const say = async (text: string, number: number, more: { chat?: string; repliesTo?: string } = {}): Promise<void> => {
  expect((await chat.post('telegram', fakes.telegram.personWrites({ text, number, chat: '4009', ...more }))).status).toBe(200);
};
const indexOf = (text: string): number => fakes.telegram.shown.findIndex((message) => message.text.includes(text));
const stopAll = async (number: number): Promise<void> => {
  await say('/stop', number);
  await waitFor(async () => (await chat.tasks()).every(({ state }) => state.completedAt !== undefined), {
    deadlineMs: DEADLINE_MS,
    what: 'all to end',
  });
};

describe('questions of a chat', () => {
  it('are asked one at a time, and a text that is a choice or its number answers the one that is', { timeout: TEST_MS }, async () => {
    await say('First', 1);
    await shows('telegram', 'First?');
    await say('Second', 2);
    await waitFor(async () => (await questions('open', 'Second?')).length === 1, {
      deadlineMs: DEADLINE_MS,
      what: 'the second to be open',
    });
    await say('2', 3);
    await shows('telegram', 'It is no');
    await shows('telegram', 'Second?');
    expect(indexOf('Second?')).toBeGreaterThan(indexOf('Answered: no'));
    await say('Yes', 4);
    await shows('telegram', 'It is yes');
    expect(await questions('answered', 'First?')).toMatchObject([{ answer: 'no' }]);
  });

  it('leave a text that is no choice to the agent', { timeout: TEST_MS }, async () => {
    await say('Third', 11);
    await shows('telegram', 'Third?');
    await say('Which one', 12);
    await waitFor(async () => (await questions('open', 'Which one?')).length === 1, {
      deadlineMs: DEADLINE_MS,
      what: 'the text to be a message',
    });
    await stopAll(13);
    expect(await questions('withdrawn', 'Third?')).toHaveLength(1);
  });

  it('are withdrawn by /stop, which their messages show, and a late press is told so', { timeout: TEST_MS }, async () => {
    await say('Fourth', 21);
    await shows('telegram', 'Fourth?');
    const press = fakes.telegram.personPresses({ label: 'yes', chat: '4009' });
    await say('/stop', 22);
    expect(await closes('telegram', 'Fourth?', 'Withdrawn')).toEqual([]);
    expect(await questions('withdrawn', 'Fourth?')).toHaveLength(1);
    await chat.post('telegram', press);
    await shows('telegram', 'The question is withdrawn');
  });

  it('are not answered by a guest, whose choice is a message', { timeout: TEST_MS }, async () => {
    await say('Fifth', 41);
    await shows('telegram', 'Fifth?');
    const press = fakes.telegram.personPresses({ label: 'yes', chat: '4009', user: '4020' });
    await chat.post('telegram', press);
    await shows('telegram', 'Visitors do not answer this question.');
    await chat.post('telegram', fakes.telegram.personWrites({ text: 'yes', number: 42, chat: '4009', user: '4020' }));
    await waitFor(async () => (await questions('open', 'yes?')).length === 1, {
      deadlineMs: DEADLINE_MS,
      what: 'the text to be a message',
    });
    expect(await questions('open', 'Fifth?')).toHaveLength(1);
    await stopAll(43);
  });

  it('for others are not answered by who asked for the task', { timeout: TEST_MS }, async () => {
    await say('Sixth', 51, { chat: '4012' });
    await shows('telegram', 'Sixth?');
    const [own, others] = ['4012', '77'].map((user) => fakes.telegram.personPresses({ label: 'yes', chat: '4012', user }));
    await chat.post('telegram', own!);
    await shows('telegram', 'The question is for somebody else than who sent the task.');
    await chat.post('telegram', others!);
    await shows('telegram', 'Sixth: yes');
    expect(await questions('answered', 'Sixth?')).toMatchObject([{ answeredBy: { kind: 'chat', id: '77' } }]);
  });

  it('in words are answered by a reply or by /answer, checked by their schema', { timeout: TEST_MS }, async () => {
    await say('How many', 31, { chat: '4011' });
    const { id } = await shows('telegram', 'How many?');
    await say('7', 32, { chat: '4011', repliesTo: id });
    await shows('telegram', 'It is 7');
    await say('How often', 33, { chat: '4011' });
    await shows('telegram', 'How often?');
    await say('/answer never', 34, { chat: '4011' });
    await shows('telegram', 'does not answer the question, which stays open');
    await say('/answer 3', 35, { chat: '4011' });
    await shows('telegram', 'It is 3');
    await say('/answer 3', 36, { chat: '4011' });
    await shows('telegram', 'Nothing is asked here now.');
    expect(
      [...(await questions('answered', 'How many?')), ...(await questions('answered', 'How often?'))].map(({ answer }) => answer),
    ).toEqual([7, 3]);
  });
});
