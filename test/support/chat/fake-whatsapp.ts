import { createHmac } from 'node:crypto';
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

const ACCESS_TOKEN = 'whatsapp-access-token';
const APP_SECRET = 'whatsapp-app-secret';
const PHONE_NUMBER_ID = '106540352242922';
const MAX_CHARACTERS = 4096;
const BUTTON = ['id', 'title'] as const;

const REFUSALS: Readonly<Record<Refusal, PlatformAnswer>> = {
  throttled: no(429, 130_429, '(#130429) Rate limit hit'),
  gone: no(400, 131_047, '(#131047) Re-engagement message'),
  broken: no(400, 1, '(#1) API Unknown'),
  unsure: { status: 500, body: 'Internal Server Error' },
};

/** Meta's Cloud API on the loopback: https://developers.facebook.com/docs/whatsapp/cloud-api */
export async function startFakeWhatsapp(): Promise<FakePlatform> {
  const calls: PlatformCall[] = [];
  const shown: ShownMessage[] = [];
  const files: ShownFile[] = [];
  const refusals: Refusal[] = [];
  /** Media that people sent, by id. */
  const kept = new Map<string, SentFile>();
  const respond = (call: PlatformCall): PlatformAnswer => {
    if (call.method === 'GET') return readMedia(kept, url, call) ?? no(404, 100, '(#100) Unsupported get request');
    if (call.body['typing_indicator'] !== undefined) {
      platform.typings += 1;
      return { status: 200, body: { success: true } };
    }
    const refusal = refusals.shift();
    if (refusal !== undefined && refusal !== 'unsure') return REFUSALS[refusal];
    const answer = postFile(files, call) ?? post(shown, call.body);
    return refusal === undefined ? answer : REFUSALS[refusal];
  };
  const { url, close } = await servePlatform(calls, respond);
  const platform: FakePlatform = {
    name: 'whatsapp',
    url,
    env: {
      WHATSAPP_ACCESS_TOKEN: ACCESS_TOKEN,
      WHATSAPP_APP_SECRET: APP_SECRET,
      WHATSAPP_PHONE_NUMBER_ID: PHONE_NUMBER_ID,
      WHATSAPP_VERIFY_TOKEN: 'whatsapp-verify-token',
      WHATSAPP_API_URL: url,
    },
    shown,
    files,
    calls,
    typings: 0,
    refuseNext: (...more) => void refusals.push(...more),
    personWrites: ({ text, number, chat = '16505551234', sentAt = timeOf(number), repliesTo }) =>
      whatsappMessages(chat, [
        {
          id: `wamid.${chat}.${number}`,
          timestamp: String(Math.floor(sentAt / 1000)),
          type: 'text',
          text: { body: text },
          // https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components#messages-object
          ...(repliesTo === undefined ? {} : { context: { from: '15550783881', id: repliesTo } }),
        },
      ]),
    personSends: ({ text, number, chat = '16505551234' }, file) => {
      const id = `${chat}${number}`;
      kept.set(id, file);
      const image = { caption: text, mime_type: file.mediaType, sha256: 'x', id };
      return whatsappMessages(chat, [
        { id: `wamid.${chat}.${number}`, timestamp: String(Math.floor(timeOf(number) / 1000)), type: 'image', image },
      ]);
    },
    // https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-messages#interactive-messages
    personPresses: ({ label, chat = '16505551234' }) => {
      const pressed = { id: findButton(calls, BUTTON, label), title: label };
      const isList = calls.findLast(({ body }) => body['interactive'] !== undefined)?.body['interactive'];
      const type = (isList as { type: string }).type === 'list' ? 'list_reply' : 'button_reply';
      const interactive = { type, [type]: pressed };
      const timestamp = String(Math.floor(Date.now() / 1000));
      return whatsappMessages(chat, [{ id: `wamid.press.${calls.length}`, timestamp, type: 'interactive', interactive }]);
    },
    threadOf: (chat = '16505551234') => `whatsapp:${PHONE_NUMBER_ID}:${chat}`,
    close,
  };
  return platform;
}

/** Messages of one person, signed, in one request as Meta sends them when there are several. */
export function whatsappMessages(from: string, messages: Record<string, unknown>[]): PlatformRequest {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: PHONE_NUMBER_ID },
    contacts: [{ profile: { name: 'Ada' }, wa_id: from }],
    messages: messages.map((message) => ({ from, ...message })),
  };
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '102290129340398', changes: [{ value, field: 'messages' }] }],
  });
  const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` } };
}

function post(shown: ShownMessage[], body: Record<string, unknown>): PlatformAnswer {
  const { body: shownBody } = (body['interactive'] ?? { body: { text: (body['text'] as { body: string }).body } }) as {
    body: { text: string };
  };
  const { text } = shownBody;
  if (text.length > MAX_CHARACTERS) return no(400, 100, '(#100) Param text[body] must be at most 4096 characters long.');
  const wrong = problemOf(body['interactive'] as Interactive | undefined);
  if (wrong !== null) return no(400, 131_009, `(#131009) Parameter value is not valid: ${wrong}`);
  const buttons = labelsIn(body['interactive'], BUTTON);
  const message = { id: `wamid.sent.${shown.length}`, chat: String(body['to']), text, edits: 0, buttons };
  shown.push(message);
  return {
    status: 200,
    body: { messaging_product: 'whatsapp', contacts: [{ input: message.chat, wa_id: message.chat }], messages: [{ id: message.id }] },
  };
}

interface Interactive {
  type: string;
  body: { text: string };
  action: { buttons?: { reply: { title: string } }[]; sections?: { rows: { title: string }[] }[] };
}

/** https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-reply-buttons-messages and interactive-list-messages */
function problemOf(interactive: Interactive | undefined): string | null {
  if (interactive === undefined) return null;
  const { body, action } = interactive;
  const titles = [
    ...(action.buttons ?? []).map(({ reply }) => reply.title),
    ...(action.sections ?? []).flatMap(({ rows }) => rows.map(({ title }) => title)),
  ];
  const isList = interactive.type === 'list';
  if (body.text.length > (isList ? 4096 : 1024)) return 'the body is too long';
  if (titles.length > (isList ? 10 : 3)) return 'too many buttons';
  if (new Set(titles).size < titles.length) return 'the titles are not unique';
  return titles.some((title) => title === '' || title.length > (isList ? 24 : 20)) ? 'a title is too long' : null;
}

/** The address of a medium, then its bytes: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#download-media */
function readMedia(kept: ReadonlyMap<string, SentFile>, url: string, { path, headers }: PlatformCall): PlatformAnswer | null {
  if (headers.authorization !== `Bearer ${ACCESS_TOKEN}`) return no(401, 190, 'Invalid OAuth access token');
  const id = path.split('/').at(-1) ?? '';
  const file = kept.get(id);
  if (file === undefined) return null;
  if (path.startsWith('/media/')) return { status: 200, body: Buffer.from(file.text) };
  const { mediaType: mime_type, text } = file;
  const address = `${url}/media/${id}`;
  return {
    status: 200,
    body: { messaging_product: 'whatsapp', id, url: address, mime_type, sha256: 'x', file_size: Buffer.byteLength(text) },
  };
}

/** A file is uploaded, and then posted by its id: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media */
function postFile(files: ShownFile[], { path, body }: PlatformCall): PlatformAnswer | null {
  if (path.endsWith('/media')) {
    files.push({ method: '', chat: '', ...(body['file'] as SentFile) });
    return { status: 200, body: { id: String(files.length - 1) } };
  }
  const method = String(body['type']);
  const media = body[method] as { id?: string } | undefined;
  const file = media?.id === undefined ? undefined : files[Number(media.id)];
  if (file === undefined) return null;
  const chat = String(body['to']);
  Object.assign(file, { method, chat });
  return {
    status: 200,
    body: { messaging_product: 'whatsapp', contacts: [{ input: chat, wa_id: chat }], messages: [{ id: `wamid.file.${media?.id}` }] },
  };
}

function no(status: number, code: number, message: string): PlatformAnswer {
  return { status, body: { error: { message, type: 'OAuthException', code, fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam' } } };
}
