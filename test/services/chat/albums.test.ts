import { afterEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import type { PlatformRequest } from '../../support/chat/fake-platform.ts';
import { telegramUpdate } from '../../support/chat/fake-telegram.ts';
import { whatsappMessages } from '../../support/chat/fake-whatsapp.ts';
import { useRedis } from '../../support/redis/use-redis.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, startChat, type RunningChat } from './running-chat.ts';
import { useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 10_000;
const redis = await useRedis();
const fakes = await useFakePlatforms();

/** Runs until the test ends, so that what comes meanwhile meets it. */
const patient: AgentFunction = (_task, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

const settings = { agents: { patient: { kind: 'function', run: patient } }, routing: { agent: 'patient' } } as const;
/** Longer than one update takes to be answered on a busy machine, else its parts would become several messages. */
const albumWaitMs = 1500;

const open: RunningChat[] = [];
afterEach(async () => {
  for (const chat of open.splice(0)) await chat.close();
});

/** A chat service; `isWorking`: and a worker, so that tasks run. */
async function start({ isWorking = false, albumMaxParts = 30, waitMs = albumWaitMs } = {}): Promise<RunningChat> {
  const options = { albumWaitMs: waitMs, albumMaxParts, groups: 'mentions' } as const;
  const chat = await startChat(redis.url, environmentOf(fakes), { ...settings, chat: options });
  if (open.length === 0) await chat.parts.redis.flushall();
  const worker = isWorking ? createWorkerService(chat.parts) : undefined;
  await worker?.start();
  const close = async (): Promise<void> => {
    await worker?.stop(500);
    await chat.close();
  };
  open.push({ ...chat, close });
  return chat;
}

/** As platforms send what happens in one chat: each update after the last was answered with 2xx. */
async function inTurn(chat: RunningChat, platform: string, requests: PlatformRequest[]): Promise<void> {
  for (const request of requests) expect((await chat.post(platform, request)).status).toBe(200);
}

const inputs = async (chat: RunningChat): Promise<unknown[]> => (await chat.tasks()).map(({ body }) => body.input);
const untilTasks = async (chat: RunningChat, count: number): Promise<void> =>
  void (await waitFor(async () => (await chat.tasks()).length >= count, { deadlineMs: DEADLINE_MS, what: `${count} task(s)` }));

function photo(number: number, fields: Record<string, unknown> = {}): PlatformRequest {
  const photos = [{ file_id: `f${number}`, file_unique_id: `u${number}`, width: 1, height: 1 }];
  return telegramUpdate({
    update_id: 7000 + number,
    message: {
      message_id: number,
      date: 1_777_000_000,
      chat: { id: 4001, type: 'private', first_name: 'Ada' },
      from: { id: 4001, is_bot: false, first_name: 'Ada' },
      photo: photos,
      media_group_id: 'album-1',
      ...fields,
    },
  });
}

function image(number: number, caption?: string): PlatformRequest {
  const content = { id: `media-${number}`, mime_type: 'image/jpeg', ...(caption === undefined ? {} : { caption }) };
  return whatsappMessages('16505551234', [
    { id: `wamid.${number}`, timestamp: `${1_777_000_000 + number}`, type: 'image', image: content },
  ]);
}

const ALBUM = 'What is this?\n[attached image: image/jpeg]\n[attached image: image/jpeg]\n[attached image: image/jpeg]';
const ALBUMS = {
  telegram: [photo(1, { caption: 'What is this?' }), photo(2), photo(3)],
  whatsapp: [image(1, 'What is this?'), image(2), image(3)],
};

describe.each(['telegram', 'whatsapp'] as const)('an album on %s, whose parts come one by one', (platform) => {
  it('is one message with its caption, and no part stops another', async () => {
    const chat = await start({ isWorking: true });
    await inTurn(chat, platform, ALBUMS[platform]);
    await untilTasks(chat, 1);
    expect(await inputs(chat)).toEqual([ALBUM]);
    await waitFor(async () => (await chat.tasks())[0]?.state.status === 'running', { deadlineMs: DEADLINE_MS, what: 'it to run' });
  });

  it('is there after the process died that gathered it', async () => {
    // It has to be gone before the album is a message.
    const waitMs = 2 * albumWaitMs;
    const first = await start({ waitMs });
    await inTurn(first, platform, ALBUMS[platform].slice(0, 2));
    expect(await inputs(first)).toEqual([]);
    await first.stop();
    const second = await start({ waitMs });
    await untilTasks(second, 1);
    expect(await inputs(second)).toEqual([ALBUM.split('\n').slice(0, 3).join('\n')]);
  });

  it('comes before what was written after it, also a command', async () => {
    const chat = await start();
    const other = platform === 'telegram' ? '4001' : '16505551234';
    await inTurn(chat, platform, [
      ...ALBUMS[platform],
      fakes[platform].personWrites({ text: 'And then?', number: 4, chat: other, user: other }),
    ]);
    expect((await inputs(chat)).slice(0, 2)).toEqual([ALBUM, 'And then?']);
    await inTurn(chat, platform, [fakes[platform].personWrites({ text: '/stop', number: 5, chat: other, user: other })]);
    const statuses = (await chat.tasks()).map(({ state }) => state.status);
    expect(statuses.filter((status) => status !== 'cancelled')).toEqual([]);
  });

  it('makes nothing more when the platform sends a part again', async () => {
    const chat = await start();
    await inTurn(chat, platform, [...ALBUMS[platform], ...ALBUMS[platform].slice(1)]);
    await untilTasks(chat, 1);
    await inTurn(chat, platform, ALBUMS[platform]);
    await inTurn(chat, platform, [fakes[platform].personWrites({ text: 'End', number: 9, chat: '55', user: '55' })]);
    expect(await inputs(chat)).toEqual([ALBUM, 'End']);
  });

  it('is not stopped by a part that comes late', async () => {
    // The first two are a message at once.
    const chat = await start({ isWorking: true, albumMaxParts: 2 });
    await inTurn(chat, platform, ALBUMS[platform].slice(0, 2));
    await waitFor(async () => (await chat.tasks())[0]?.state.status === 'running', { deadlineMs: DEADLINE_MS, what: 'it to run' });
    await inTurn(chat, platform, ALBUMS[platform].slice(2));
    await untilTasks(chat, 2);
    const last = '[attached image: image/jpeg]';
    const seen = (await chat.tasks()).map(({ body, state }) => [body.input.split('\n').length, body.input.endsWith(last), state.status]);
    expect(seen).toEqual([
      [3, true, 'running'],
      [1, true, 'pending'],
    ]);
  });
});

describe('an album in a group', () => {
  const group = { chat: { id: -100, type: 'group', title: 'Team' } };
  const named = { caption: '@muster_bot look', caption_entities: [{ type: 'mention', offset: 0, length: 11 }] };

  it('is for the bot when one of its parts names it', async () => {
    const chat = await start();
    await inTurn(chat, 'telegram', [photo(1, group), photo(2, { ...group, ...named }), photo(3, group)]);
    await untilTasks(chat, 1);
    expect(await inputs(chat)).toEqual([ALBUM.replace('What is this?', 'look')]);
  });

  it('is none of its business otherwise', async () => {
    const chat = await start();
    await inTurn(chat, 'telegram', [photo(1, group), photo(2, group)]);
    await waitFor(async () => (await chat.parts.redis.keys('*album-parts*')).length === 0, { deadlineMs: DEADLINE_MS, what: 'the end' });
    expect(await inputs(chat)).toEqual([]);
  });
});
