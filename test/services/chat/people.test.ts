import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { slackEvent, slackTs } from '../../support/chat/fake-slack.ts';
import { discordId, discordMessage } from '../../support/chat/fake-discord.ts';
import type { PlatformRequest } from '../../support/chat/fake-platform.ts';
import { telegramUpdate } from '../../support/chat/fake-telegram.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { whatsappMessages } from '../../support/chat/fake-whatsapp.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 10_000;
/** Fails once the chat has read its first half. */
const breaks: AgentFunction = async (task, { write }) => {
  write('The first half');
  await shows(platformOf(task.context), 'The first half');
  throw new TaskFailure('INVALID_INPUT', 'no second half');
};
const platformOf = (context: Record<string, unknown> | null): PlatformName =>
  PLATFORM_NAMES.find((name) => name === context?.['platform']) ?? 'telegram';
const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  agents: { breaks: { kind: 'function', run: breaks } },
  routing: { agent: 'breaks' },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
});
await useWorker(chat.parts);
beforeEach(() => {
  for (const fake of Object.values(fakes)) fake.shown.length = 0;
});

const shows = async (name: PlatformName, text: string): Promise<string> =>
  await waitFor(() => fakes[name].shown.find((each) => each.text.includes(text))?.text, {
    deadlineMs: DEADLINE_MS,
    what: `"${text}" in ${JSON.stringify(fakes[name].shown)}`,
  });

const base = {
  message_id: 5,
  date: 1_777_000_000,
  chat: { id: 4001, type: 'private', first_name: 'Ada' },
  from: { id: 4001, is_bot: false, first_name: 'Ada' },
};
const ofWhatsapp = (fields: Record<string, unknown>): PlatformRequest =>
  whatsappMessages('16505551234', [{ id: 'wamid.kind', timestamp: '1777000000', ...fields }]);

describe('/status in a new chat', () => {
  it.each([
    ['telegram', 'interrupt'],
    ['whatsapp', 'interrupt'],
    ['discord', 'queue'],
  ] as const)('on %s names the mode of its platform: %s', async (name, mode) => {
    await chat.post(name, fakes[name].personWrites({ text: '/status', number: 1, chat: '99', user: '99' }));
    expect(await shows(name, 'Nothing runs')).toContain(`Mode: ${mode} (the default of ${name})`);
  });
});

describe('one line answers', () => {
  it.each<[string, PlatformName, string, PlatformRequest]>([
    [
      'a changed message',
      'telegram',
      'changed message is not read again',
      telegramUpdate({ update_id: 1, edited_message: { ...base, text: 'What I meant', edit_date: 1_777_000_100 } }),
    ],
    [
      'a changed message',
      'slack',
      'changed message is not read again',
      slackEvent({
        type: 'message',
        subtype: 'message_changed',
        hidden: true,
        channel: 'D4001',
        channel_type: 'im',
        ts: slackTs(31),
        message: { type: 'message', user: 'UADA', text: 'What I meant', ts: slackTs(30), edited: { user: 'UADA', ts: slackTs(31) } },
        previous_message: { type: 'message', user: 'UADA', text: 'What I said', ts: slackTs(30) },
      }),
    ],
    [
      'a checklist',
      'telegram',
      'cannot be read here',
      telegramUpdate({ update_id: 2, message: { ...base, message_id: 6, checklist: { title: 'To do', tasks: [] } } }),
    ],
    ['contacts', 'whatsapp', 'cannot be read here', ofWhatsapp({ type: 'contacts', contacts: [{ name: { formatted_name: 'Bob' } }] })],
    [
      'what Meta does not hand over',
      'whatsapp',
      'cannot be read here',
      ofWhatsapp({ id: 'wamid.other', type: 'unsupported', errors: [{ code: 131_051 }] }),
    ],
    [
      'a sticker',
      'discord',
      'cannot be read here',
      discordMessage({
        id: discordId(8),
        channel_id: '4001',
        channel_type: 1,
        content: '',
        author: { id: '77', username: 'ada', bot: false },
        sticker_items: [{ id: '1', name: 'wave', format_type: 1 }],
      }),
    ],
  ])('%s on %s', async (_what, name, text, request) => {
    const before = (await chat.tasks()).length;
    expect((await chat.post(name, request)).status).toBe(200);
    expect((await chat.post(name, request)).status).toBe(200);
    await shows(name, text);
    expect([fakes[name].shown.length, (await chat.tasks()).length]).toEqual([1, before]);
  });

  it('no notice of a platform, and no moving place', async () => {
    const before = (await chat.tasks()).length;
    await chat.post('telegram', telegramUpdate({ update_id: 3, message: { ...base, pinned_message: { ...base, text: 'pinned' } } }));
    const place = { ...base, location: { latitude: 1, longitude: 2 }, edit_date: 1_777_000_100 };
    await chat.post('telegram', telegramUpdate({ update_id: 4, edited_message: place }));
    await chat.post('whatsapp', ofWhatsapp({ type: 'request_welcome' }));
    await chat.post('telegram', fakes.telegram.personWrites({ text: '/status', number: 9, chat: '98' }));
    await shows('telegram', 'Nothing runs');
    expect([fakes.telegram.shown.length, fakes.whatsapp.shown.length, (await chat.tasks()).length]).toEqual([1, 0, before]);
  });
});

describe('an answer that breaks off', () => {
  it.each(PLATFORM_NAMES.filter((name) => name !== 'whatsapp'))('on %s keeps what was read of it, and says so', async (name) => {
    await chat.post(name, fakes[name].personWrites({ text: 'Tell me all', number: 2 }));
    expect(await shows(name, 'broke off')).toBe('The first half\n\n(Sorry, the answer broke off here: INVALID_INPUT.)');
    expect(fakes[name].shown).toHaveLength(1);
  });
});
