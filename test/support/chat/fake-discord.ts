import { generateKeyPairSync, sign } from 'node:crypto';
import {
  findButton,
  labelsIn,
  servePlatform,
  timeOf,
  type FakePlatform,
  type PlatformAnswer,
  type PlatformCall,
  type PlatformRequest,
  type Refusal,
  type SentFile,
  type ShownFile,
  type ShownMessage,
} from './fake-platform.ts';

const APPLICATION_ID = '1100000000000000001';
const BOT_TOKEN = 'discord-bot-token';
const MAX_CHARACTERS = 2000;
const BUTTON = ['custom_id', 'label'] as const;

const REFUSALS: Readonly<Record<Refusal, PlatformAnswer>> = {
  throttled: {
    status: 429,
    body: { message: 'You are being rate limited.', retry_after: 2, global: false },
    headers: { 'retry-after': '2' },
  },
  gone: { status: 403, body: { message: 'Missing Access', code: 50_001 } },
  broken: { status: 503, body: { message: 'Service Unavailable', code: 0 } },
  unsure: { status: 500, body: { message: 'Internal Server Error', code: 0 } },
};

export interface FakeDiscord extends FakePlatform {
  readonly applicationId: string;
  /** A signed interaction. */
  interaction(body: Record<string, unknown>): PlatformRequest;
}

/** Discord's API on the loopback: https://docs.discord.com/developers/reference */
export async function startFakeDiscord(): Promise<FakeDiscord> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const rawKey = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
  const calls: PlatformCall[] = [];
  const shown: ShownMessage[] = [];
  const files: ShownFile[] = [];
  /** By path: https://docs.discord.com/developers/reference#cdn-formatting-cdn-endpoints */
  const kept = new Map<string, SentFile>();
  const refusals: Refusal[] = [];
  const respond = (call: PlatformCall): PlatformAnswer => {
    const attachment = kept.get(call.path);
    if (attachment) return { status: 200, body: Buffer.from(attachment.text) };
    const [, channel = '', id, rest] = /^\/channels\/(\d+)(?:\/messages(?:\/(\d+))?)?(?:\/(\w+))?$/.exec(call.path) ?? [];
    if (rest === 'typing') {
      platform.typings += 1;
      return { status: 200, body: {} };
    }
    if (rest === 'threads') return { status: 201, body: { id, name: 'Thread' } };
    const refusal = refusals.shift();
    if (refusal !== undefined && refusal !== 'unsure') return REFUSALS[refusal];
    const answer = apply(call, channel, id ?? '');
    return refusal === undefined ? answer : REFUSALS[refusal];
  };
  const apply = (call: PlatformCall, channel: string, id: string): PlatformAnswer => {
    if (call.body['files[0]'] !== undefined) return postFiles(files, channel, call.body);
    return call.method === 'PATCH' ? edit(shown, id, call.body) : post(shown, channel, call.body);
  };
  const { url, close } = await servePlatform(calls, respond);
  const platform: FakeDiscord = {
    name: 'discord',
    applicationId: APPLICATION_ID,
    url,
    env: { DISCORD_BOT_TOKEN: BOT_TOKEN, DISCORD_PUBLIC_KEY: rawKey, DISCORD_APPLICATION_ID: APPLICATION_ID, DISCORD_API_URL: url },
    shown,
    files,
    calls,
    typings: 0,
    refuseNext: (...more) => void refusals.push(...more),
    personWrites: ({ text, number, chat = '4001', user = '77', sentAt = timeOf(number), repliesTo }) =>
      discordMessage({
        timestamp: new Date(sentAt).toISOString(),
        id: discordId(number),
        channel_id: chat,
        channel_type: 1,
        content: text,
        author: { id: user, username: 'ada', bot: false },
        // https://docs.discord.com/developers/resources/message#message-reference-structure
        ...(repliesTo === undefined ? {} : { type: 19, message_reference: { type: 0, message_id: repliesTo, channel_id: chat } }),
      }),
    personSends: ({ text, number, chat = '4001', user = '77' }, file) => {
      const path = `/attachments/${chat}/${discordId(number)}/${file.name}`;
      kept.set(path, file);
      return discordMessage({
        id: discordId(number),
        channel_id: chat,
        channel_type: 1,
        content: text,
        author: { id: user, username: 'ada', bot: false },
        attachments: [discordAttachment(discordId(number), `${url}${path}`, file)],
      });
    },
    // https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object
    personPresses: ({ label, chat = '4001', user = '77' }) =>
      platform.interaction({
        id: discordId(7000 + calls.length),
        type: 3,
        channel_id: chat,
        channel: { id: chat, type: 1 },
        user: { id: user, username: 'ada', global_name: 'Ada' },
        message: { id: discordId(3000), channel_id: chat },
        data: { component_type: 2, custom_id: findButton(calls, BUTTON, label) },
      }),
    threadOf: (chat = '4001') => `discord:@me:${chat}`,
    interaction: (body) => {
      const text = JSON.stringify({ application_id: APPLICATION_ID, token: 'interaction-token', version: 1, ...body });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = sign(null, Buffer.from(timestamp + text), privateKey).toString('hex');
      return {
        body: text,
        headers: { 'content-type': 'application/json', 'x-signature-ed25519': signature, 'x-signature-timestamp': timestamp },
      };
    },
    close,
  };
  return platform;
}

/** A snowflake of 2026: its milliseconds, a machine, and the number. */
export function discordId(number: number): string {
  return String((358_000_000_000n << 22n) | (5n << 12n) | BigInt(number));
}

/** A message event of the Gateway, as a forwarder with the bot's token posts it. */
export function discordMessage(data: Record<string, unknown>): PlatformRequest {
  const message = { timestamp: new Date().toISOString(), attachments: [], mentions: [], ...data };
  return {
    body: JSON.stringify({ type: 'GATEWAY_MESSAGE_CREATE', timestamp: Date.now(), data: message }),
    headers: { 'content-type': 'application/json', 'x-discord-gateway-token': BOT_TOKEN },
  };
}

/** https://docs.discord.com/developers/resources/message#attachment-object */
export function discordAttachment(id: string, url: string, { name, mediaType, text }: SentFile): Record<string, unknown> {
  return {
    id,
    filename: name,
    size: Buffer.byteLength(text),
    url,
    proxy_url: url,
    content_type: mediaType,
    content_scan_version: 0,
    ...(mediaType.startsWith('image/') ? { width: 640, height: 480, placeholder: '', placeholder_version: 1 } : {}),
  };
}

/** A post with files is a form: https://docs.discord.com/developers/reference#uploading-files */
function postFiles(files: ShownFile[], chat: string, body: Record<string, unknown>): PlatformAnswer {
  const { content } = JSON.parse(String(body['payload_json'])) as { content?: string };
  for (const [name, file] of Object.entries(body)) {
    if (name.startsWith('files[')) files.push({ method: 'messages', chat, ...(file as SentFile) });
  }
  return { status: 200, body: { id: discordId(6000 + files.length), channel_id: chat, content: content ?? '' } };
}

function post(shown: ShownMessage[], chat: string, body: Record<string, unknown>): PlatformAnswer {
  const text = textOf(body);
  if (!isFitting(body)) return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } };
  const message = { id: discordId(3000 + shown.length), chat, text, edits: 0, buttons: labelsIn(body['components'], BUTTON) };
  shown.push(message);
  return { status: 200, body: { id: message.id, channel_id: chat, content: text } };
}

interface Shown {
  content?: string | null;
  embeds?: { description?: string }[];
  components?: { components: { label: string }[] }[];
}

function textOf({ content, embeds = [] }: Shown): string {
  return [content ?? '', ...embeds.map(({ description = '' }) => description)].filter((text) => text !== '').join('\n');
}

/** https://docs.discord.com/developers/resources/message#create-message */
function isFitting({ content, embeds = [], components = [] }: Shown): boolean {
  const areRows = components.length <= 5 && components.every((row) => row.components.length <= 5);
  const areLabels = components.every((row) => row.components.every(({ label }) => label.length <= 80));
  return (
    (content ?? '').length <= MAX_CHARACTERS && embeds.every(({ description = '' }) => description.length <= 4096) && areRows && areLabels
  );
}

function edit(shown: ShownMessage[], id: string, body: Record<string, unknown>): PlatformAnswer {
  const message = shown.find((each) => each.id === id);
  if (!message) return { status: 404, body: { message: 'Unknown Message', code: 10_008 } };
  if (!isFitting(body)) return { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } };
  message.text = textOf(body);
  // Without the field the former ones stay: https://docs.discord.com/developers/resources/message#edit-message
  if (body['components'] !== undefined) message.buttons = labelsIn(body['components'], BUTTON);
  message.edits += 1;
  return { status: 200, body: { id, channel_id: message.chat, content: message.text } };
}
