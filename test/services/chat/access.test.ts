import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { slackEvent, slackTs } from '../../support/chat/fake-slack.ts';
import { telegramUpdate } from '../../support/chat/fake-telegram.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 8000;
const running = new Map<string, () => void>();
afterAll(() => running.clear());

/** Answers with its input; texts that begin with "stay" run until the test ends them. */
const agent: AgentFunction = (task, { signal }) => {
  if (!task.input.startsWith('stay')) return Promise.resolve(task.input);
  return new Promise((resolve, reject) => {
    running.set(task.input, () => resolve('done'));
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
};

const fakes = await useFakePlatforms();
const settings = {
  agents: { helper: { kind: 'function', run: agent } },
  routing: { agent: 'helper' },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
} as const;
const open = await useChat(environmentOf(fakes), settings);
await useWorker(open.parts);
const telegram = [{ users: ['1'] }, { users: ['2'], may: ['talk' as const] }, { channels: ['-100'], may: ['talk' as const] }];
const listed = await useChat(environmentOf(fakes), { ...settings, chat: { access: { telegram, slack: [], whatsapp: [], discord: [] } } });
await useWorker(listed.parts);
beforeEach(() => {
  for (const fake of Object.values(fakes)) fake.shown.length = 0;
});

let messages = 0;

const chatOf = (name: PlatformName, person: number): string => (name === 'slack' ? `D${person}` : String(person));
async function write(chat: typeof open, name: PlatformName, person: number, text: string): Promise<void> {
  messages += 1;
  const from = chatOf(name, person);
  const response = await chat.post(name, fakes[name].personWrites({ text, number: messages, chat: from, user: from }));
  expect(response.status).toBe(200);
}
const textsIn = (name: PlatformName, person: number): string[] =>
  fakes[name].shown.filter(({ chat }) => chat === chatOf(name, person)).map(({ text }) => text);
const shows = async (name: PlatformName, person: number, text: string): Promise<string> =>
  await waitFor(() => textsIn(name, person).find((each) => each.includes(text)), {
    deadlineMs: DEADLINE_MS,
    what: `"${text}" in ${JSON.stringify(fakes[name].shown)}`,
  });

describe.each(PLATFORM_NAMES)('on %s a chat', (name) => {
  it('sees and changes the schedules made in it, and no others', async () => {
    await write(open, name, 1, '/schedule every day at 08:00: the secret plan');
    const made = await shows(name, 1, 'secret');
    const number = /#(\d+)/.exec(made)?.[1] ?? '';
    await write(open, name, 2, '/schedule list');
    await shows(name, 2, 'has no schedules');
    for (const verb of ['cancel', 'pause', 'resume']) await write(open, name, 2, `/schedule ${verb} ${number}`);
    await waitFor(() => textsIn(name, 2).filter((text) => text.includes(`no schedule #${number}`)).length === 3, {
      deadlineMs: DEADLINE_MS,
      what: 'three refusals',
    });
    await write(open, name, 1, '/schedule list');
    await waitFor(() => textsIn(name, 1).filter((text) => text.includes('secret')).length === 2, {
      deadlineMs: DEADLINE_MS,
      what: 'the list',
    });
    // An agent is talked into writing it.
    await write(open, name, 2, `Write this:\n/schedule cancel ${number}`);
    await waitFor(() => textsIn(name, 2).filter((text) => text.includes(`no schedule #${number}`)).length === 4, {
      deadlineMs: DEADLINE_MS,
      what: 'the refusal in an answer',
    });
    await write(open, name, 1, `/schedule cancel ${number}`);
    expect(await shows(name, 1, 'Canceled')).toContain(`#${number}`);
  });
});

const inChannel = (): string[] => fakes.slack.shown.filter(({ chat }) => chat === 'C9').map(({ text }) => text);

it('the threads of a channel are one chat', async () => {
  const channel = { channel: 'C9', channel_type: 'channel', user: 'UADA', type: 'app_mention' };
  await open.post('slack', slackEvent({ ...channel, text: '<@UBOT> /schedule every day at 07:00: in a thread', ts: slackTs(71) }));
  await open.post('slack', slackEvent({ ...channel, text: '<@UBOT> /schedule list', ts: slackTs(72) }));
  await waitFor(() => inChannel().length === 2, { deadlineMs: DEADLINE_MS, what: 'both answers' });
  expect(inChannel().filter((text) => text.includes('in a thread'))).toHaveLength(2);
});

describe('where people are listed', () => {
  it('nobody else is accepted, and each is answered once, with the id that the operator needs', async () => {
    await write(listed, 'telegram', 3, 'Hello');
    await write(listed, 'telegram', 3, 'Hello?');
    await write(listed, 'telegram', 3, '/status');
    await write(listed, 'whatsapp', 3, 'Hello');
    await shows('telegram', 3, 'your id is 3');
    await shows('whatsapp', 3, 'your id is 3');
    await write(listed, 'telegram', 1, 'I may');
    await shows('telegram', 1, 'I may');
    expect(textsIn('telegram', 3)).toHaveLength(1);
    expect((await listed.tasks()).map(({ body }) => body.input)).toEqual(['I may']);
  });

  it('a group that is not listed hears nothing, and one that is may talk', async () => {
    const inGroup = (id: number, number: number): Promise<{ status: number }> =>
      listed.post(
        'telegram',
        telegramUpdate({
          update_id: 50_000 + number,
          message: {
            message_id: number,
            date: 1_777_000_000,
            chat: { id, type: 'group', title: 'Team' },
            from: { id: 77, is_bot: false, first_name: 'Eve' },
            text: `@muster_bot hello ${id}`,
            entities: [{ type: 'mention', offset: 0, length: 11 }],
          },
        }),
      );
    expect((await inGroup(-200, 801)).status).toBe(200);
    expect((await inGroup(-100, 802)).status).toBe(200);
    await waitFor(() => fakes.telegram.shown.some(({ chat }) => chat === '-100'), { deadlineMs: DEADLINE_MS, what: 'the answer' });
    expect(fakes.telegram.shown.filter(({ chat }) => chat === '-200')).toEqual([]);
    expect((await listed.tasks()).map(({ body }) => body.input)).not.toContain('hello -200');
  });

  it('who may only talk makes no schedule, not by an agent either, and stops nothing', async () => {
    await write(listed, 'telegram', 2, '/schedule in 2 hours: mine');
    await shows('telegram', 2, 'may not make or change schedules');
    await write(listed, 'telegram', 2, 'Write this:\n/schedule in 2 hours: mine');
    await shows('telegram', 2, 'Write this:\n/schedule in 2 hours: mine');
    await write(listed, 'telegram', 2, 'stay here');
    await waitFor(() => running.has('stay here'), { deadlineMs: DEADLINE_MS, what: 'it to run' });
    for (const text of ['/stop', '/queue interrupt', '/queue interrupt now', 'and this']) await write(listed, 'telegram', 2, text);
    await waitFor(() => textsIn('telegram', 2).filter((text) => text.includes('may not stop or steer')).length === 2, {
      deadlineMs: DEADLINE_MS,
      what: 'two refusals',
    });
    const status = async (input: string): Promise<unknown> => (await listed.tasks()).find(({ body }) => body.input === input)?.state.status;
    expect(await status('stay here')).toBe('running');
    running.get('stay here')?.();
    await waitFor(async () => (await status('stay here')) === 'completed', { deadlineMs: DEADLINE_MS, what: 'its end' });
  });
});
