import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModel, type FakeModel } from '../../support/agents/fake-model.ts';
import { startFakeTelegram, telegramUpdate, type FakeTelegram } from '../../support/chat/fake-telegram.ts';
import { startMusterDaemon, type DaemonProcess } from '../../support/daemons/daemon-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Whoever writes here gets an answer of the model. */
const MODEL_CHAT = 4001;
/** Whoever writes here gets an answer of the daemon. */
const DAEMON_CHAT = 4002;
const PHOTO = 'bytes of photos/large.jpg';
/** Lists what came, and leaves a file that shows what was in it. */
const DEVELOP = 'cat; echo; ls in; tr a-z A-Z < in/image.jpg > out/developed.png';
const ANSWER_MS = 60_000;

const folder = await useFolder();
let fleet: Fleet;
let telegram: FakeTelegram;
let model: FakeModel;
let chat: ServiceProcess;
let daemon: DaemonProcess;

/** Sends a photo as https://core.telegram.org/bots/api#message has it: in several sizes, the largest last. */
async function sendPhoto(chatId: number, caption: string): Promise<void> {
  const { body, headers } = telegramUpdate({
    update_id: 8000 + chatId,
    message: {
      message_id: 1,
      date: 1_777_000_000,
      chat: { id: chatId, type: 'private', first_name: 'Ada' },
      from: { id: chatId, is_bot: false, first_name: 'Ada', language_code: 'en' },
      caption,
      photo: [
        { file_id: 'small', file_unique_id: 's', width: 90, height: 90, file_size: 10 },
        { file_id: 'large', file_unique_id: 'l', width: 800, height: 800, file_size: PHOTO.length },
      ],
    },
  });
  expect((await fetch(`${chat.url}/chat/telegram`, { method: 'POST', headers, body })).status).toBe(200);
}

async function answerIn(chatId: number, text: string): Promise<string> {
  const find = (): string | undefined => telegram.shown.find((shown) => shown.chat === String(chatId) && shown.text.includes(text))?.text;
  return await waitFor(find, { deadlineMs: ANSWER_MS, what: `"${text}" in the chat ${chatId}` });
}

describe('a photo that somebody sends in Telegram', () => {
  beforeAll(async () => {
    [telegram, model] = await Promise.all([startFakeTelegram(), startFakeModel()]);
    model.mock.onMessage('What is this?', { content: 'A cat on a roof.' });
    fleet = await openFleet({
      settings: {
        agents: {
          vision: { kind: 'openai', model: 'gpt-5-mini', baseUrl: model.baseUrl, apiKey: 'k' },
          darkroom: { kind: 'daemon', capabilities: ['photos'] },
        },
        routing: { agent: 'vision', agents: [{ surface: 'telegram', channel: String(DAEMON_CHAT), agent: 'darkroom' }] },
      },
      env: telegram.env,
    });
    const api = await fleet.start('api');
    const env = { MUSTER_PUBLIC_URL: api.url };
    const [opened, hub] = await Promise.all([fleet.start('chat', env), fleet.start('hub', env), fleet.start('worker', env)]);
    chat = opened;
    const { token } = await fleet.client.make('/v1/daemons', { name: 'darkroom', capabilities: ['photos'] });
    daemon = startMusterDaemon(['--capabilities', 'photos', '--', 'sh', '-c', DEVELOP], { hub: hub.url, token: String(token), folder });
    await daemon.prints('Connected to ws://');
  }, 180_000);
  afterAll(async () => {
    daemon?.signal('SIGKILL');
    await daemon?.ended;
    await fleet?.stop();
    await Promise.all([telegram?.close(), model?.close()]);
  });

  it('reaches a vision model as an image, and its answer the chat', async () => {
    await sendPhoto(MODEL_CHAT, 'What is this?');
    expect(await answerIn(MODEL_CHAT, 'A cat')).toBe('A cat on a roof.');
    const [request] = model.mock.getRequests();
    const { messages } = (request?.body ?? { messages: [] }) as { messages: { role: string; content: unknown }[] };
    expect(messages.findLast(({ role }) => role === 'user')?.content).toEqual([
      { type: 'text', text: 'What is this?\n[attached image: image/jpeg]' },
      { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${Buffer.from(PHOTO).toString('base64')}` } },
    ]);
  });

  it("reaches a daemon's folder, and the file that the daemon leaves there comes back into the chat", async () => {
    await sendPhoto(DAEMON_CHAT, 'Develop this');
    expect(await answerIn(DAEMON_CHAT, '.jpg')).toBe('Develop this\n[attached image: image/jpeg]\nimage.jpg');
    const file = await waitFor(() => telegram.files[0], { deadlineMs: ANSWER_MS, what: 'a file in the chat' });
    // The picture shows as a photo, because its name says what it is.
    expect(file).toEqual({
      method: 'sendPhoto',
      chat: String(DAEMON_CHAT),
      name: 'developed.png',
      mediaType: 'image/png',
      text: PHOTO.toUpperCase(),
    });
    expect(telegram.files).toHaveLength(1);
  });
});
